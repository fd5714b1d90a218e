#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/byte_budget.hpp"
#include "base/clock.hpp"
#include "upstream/kept_outgoing.hpp"
#include "upstream/stdio/frame_queue.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// A message that the child was given or is to be given, and of which nothing was said yet.
struct ChildRequest {
  Outgoing message;         ///< its body is empty while it waits in the queue
  std::uint32_t run = 0;    ///< of the child
  bool written = false;     ///< some of it
  std::uint64_t begin = 0;  ///< then: where in the stream to the child
  SteadyTime started{};
  SteadyTime released{};                ///< when the last question about it was answered
  std::optional<SteadyTime> held_at{};  ///< since when one is open: no time runs (Upstream)
};

/// The messages under way to a child, and when the first of them has waited too long (BEHAVIOUR,
/// "Deadlines"). Pure. Memory: of what is written a body until it is answered, counted in the
/// budget, since it may have to be sent again if the child dies.
class ChildRequests {
 public:
  struct Timeouts {
    std::chrono::milliseconds silence;  ///< without a byte from the child; 0: none
    std::chrono::milliseconds in_all;   ///< 0: none
  };

  ChildRequests(ByteBudget& budget, Timeouts timeouts) : kept_(budget), timeouts_(timeouts) {}

  void set_timeouts(Timeouts timeouts) { timeouts_ = timeouts; }
  /// Any byte of the child says that it is alive.
  void heard(SteadyTime now) { heard_ = now; }

  ChildRequest& add(UpstreamId id, ChildRequest request) {
    return requests_[id] = std::move(request);
  }

  ChildRequest* find(UpstreamId id) {
    const auto found = requests_.find(id);
    return found == requests_.end() ? nullptr : &found->second;
  }

  const ChildRequest* find(UpstreamId id) const {
    const auto found = requests_.find(id);
    return found == requests_.end() ? nullptr : &found->second;
  }

  std::optional<ChildRequest> take(UpstreamId id) {
    auto node = requests_.extract(id);
    if (node.empty()) return std::nullopt;
    if (node.mapped().written) kept_.remove(node.mapped().message.body.size());
    return std::move(node.mapped());
  }

  /// Some of it is written.
  void keep(ChildRequest& request, QueuedFrame frame) {
    request.written = true;
    request.begin = frame.begin;
    request.message.body = std::move(frame.body);
    kept_.add(request.message.body.size());
  }

  /// Upstream::hold_deadline().
  void hold_deadline(UpstreamId id, bool held, SteadyTime now) {
    ChildRequest* const request = find(id);
    if (request == nullptr || request->held_at.has_value() == held) return;
    if (held) {
      request->held_at = now;
    } else {
      request->started += now - *request->held_at;
      request->released = now;
      request->held_at.reset();
    }
  }

  /// All of them, for another image of the program.
  std::vector<KeptMessage> to_keep(SteadyTime now) const {
    std::vector<KeptMessage> all;
    for (const auto& [id, request] : requests_) {
      KeptMessage kept = kept_message(request.message);
      const SteadyTime held_at = request.held_at.value_or(now);
      kept.started = ticks_of(request.started + (now - held_at));
      kept.heard = ticks_of(heard_);
      kept.run = request.run;
      kept.written = request.written;
      kept.begin = request.begin;
      all.push_back(std::move(kept));
    }
    return all;
  }
  ChildRequest& go_on_with(KeptMessage kept) {
    heard_ = std::max(heard_, steady_time_of(kept.heard));
    ChildRequest request;
    request.run = static_cast<std::uint32_t>(kept.run);
    request.written = kept.written;
    request.begin = kept.begin;
    request.started = steady_time_of(kept.started);
    request.message = outgoing_of(std::move(kept));
    if (request.written) kept_.add(request.message.body.size());
    const UpstreamId id = request.message.id;
    return add(id, std::move(request));
  }

  /// Those of one run of the child, in the order in which they were sent.
  std::vector<UpstreamId> of_run(std::uint32_t run) const {
    return select([run](const ChildRequest& request) { return request.run == run; });
  }

  /// How long a notification may wait for a child that does not read: what follows it waits too.
  static constexpr std::chrono::seconds delivery_time{30};

  SteadyTime deadline(const ChildRequest& request) const {
    return deadline(request, heard_, timeouts_);
  }
  static SteadyTime deadline(const ChildRequest& request, SteadyTime heard,
                             const Timeouts& timeouts) {
    SteadyTime due = SteadyTime::max();
    if (request.message.endless || request.held_at) return due;
    if (timeouts.silence.count() > 0)
      due = std::max({request.started, request.released, heard}) + timeouts.silence;
    if (timeouts.in_all.count() > 0) due = std::min(due, request.started + timeouts.in_all);
    if (request.message.kind != OutgoingKind::request)
      due = std::min(due, request.started + delivery_time);
    return due;
  }

  /// Whether --request-max is what has run out.
  bool took_too_long(const ChildRequest& request, SteadyTime now) const {
    return timeouts_.in_all.count() > 0 && now - request.started >= timeouts_.in_all;
  }

  /// Those whose time is over; `next` is when the first of the others is due, if any is.
  std::vector<UpstreamId> expired(SteadyTime now, SteadyTime& next) const {
    return select([&](const ChildRequest& request) {
      const SteadyTime due = deadline(request);
      if (due <= now) return true;
      next = std::min(next, due);
      return false;
    });
  }

  void clear() {
    requests_.clear();
    kept_.set(0);
  }

 private:
  template <class Predicate>
  std::vector<UpstreamId> select(Predicate&& predicate) const {
    std::vector<UpstreamId> ids;
    for (const auto& [id, request] : requests_) {
      if (predicate(request)) ids.push_back(id);
    }
    std::sort(ids.begin(), ids.end());
    return ids;
  }

  std::unordered_map<UpstreamId, ChildRequest> requests_;
  ByteBudget::Share kept_;  ///< those that are written
  Timeouts timeouts_;
  SteadyTime heard_{};
};

}  // namespace bridge
