#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/byte_budget.hpp"
#include "base/clock.hpp"
#include "event/event_loop.hpp"
#include "upstream/message_clock.hpp"
#include "upstream/stdio/child_process.hpp"
#include "upstream/stdio/child_runs.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// When a local server's next run may start, and when it starts automatically (BEHAVIOUR, "Local
/// server").
///
/// After a good run, of 30 s or more, a request may start one at once. After shorter ones, runs
/// start at most every 500 ms, whatever is requested; with --spawn start automatically after 500
/// ms, then twice as long each time, up to 30 s.
///
/// The loop's thread only; a part of ChildUpstream.
class RestartPace {
 public:
  /// `lazy`: a run starts only on request. `due`: time to start one.
  RestartPace(EventLoop& loop, bool lazy, std::function<void()> due)
      : loop_(loop), lazy_(lazy), timer_(loop, std::move(due)) {}

  bool may_begin() const { return loop_.now() >= earliest_; }
  /// A run was requested that may not start yet.
  void asked() { timer_.set_at_latest(earliest_); }
  void begun() {
    timer_.clear();
    begun_ = loop_.now();
  }
  void could_not_begin() {
    timer_.clear();
    if (!lazy_) timer_.set_after(backoff_.next());
  }
  void ended() {
    earliest_ = loop_.now();
    if (earliest_ - begun_ >= good_life) {
      backoff_.reset();
    } else {
      earliest_ += Backoff::first;
    }
    // No jitter: the server is not shared with other daemons.
    if (!lazy_) timer_.set_after(std::max(backoff_.next(), Backoff::first));
  }
  /// No run begins automatically from now on.
  void stop() { timer_.clear(); }

 private:
  static constexpr std::chrono::seconds good_life{30};

  EventLoop& loop_;
  const bool lazy_;
  SteadyTime begun_{};
  SteadyTime earliest_{};
  Backoff backoff_;
  DeadlineTimer timer_;
};

/// A message that was or will be written to the child, and whose end is not reported yet.
struct ChildRequest {
  Outgoing message;         ///< its body is empty while it is in the queue
  std::uint32_t run = 0;    ///< of the child
  bool written = false;     ///< at least partly
  std::uint64_t begin = 0;  ///< if written: its position in the child's input
  MessageClock clock;
};

/// The messages under way to a child, and their deadlines (BEHAVIOUR, "Deadlines"). Pure. Memory:
/// the body of each written message until it is answered, counted against the budget, because it
/// may be sent again if the child dies.
class ChildRequests {
 public:
  ChildRequests(ByteBudget& budget, MessageTimeouts timeouts)
      : kept_(budget), timeouts_(timeouts) {}

  void set_timeouts(MessageTimeouts timeouts) { timeouts_ = timeouts; }
  /// Any byte from the child shows that it is alive.
  void note_activity(SteadyTime now) { last_activity_ = now; }

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

  /// The message is at least partly written.
  void keep(ChildRequest& request, QueuedFrame frame) {
    request.written = true;
    request.begin = frame.begin;
    request.message.body = std::move(frame.body);
    kept_.add(request.message.body.size());
  }

  /// Upstream::hold_deadline().
  void hold_deadline(UpstreamId id, bool held, SteadyTime now) {
    ChildRequest* const request = find(id);
    if (request == nullptr) return;
    if (held) {
      request->clock.hold(now);
    } else {
      request->clock.release(now);
    }
  }

  /// All messages, for an upgrade.
  std::vector<SavedMessage> save_requests(SteadyTime now) const {
    std::vector<SavedMessage> all;
    for (const auto& [id, request] : requests_) {
      SavedMessage& saved = all.emplace_back();
      saved.message = request.message;
      saved.started = request.clock.started(now);
      saved.last_activity = last_activity_;
      saved.run = request.run;
      saved.written = request.written;
      saved.begin = request.begin;
    }
    return all;
  }
  ChildRequest& restore(SavedMessage saved) {
    last_activity_ = std::max(last_activity_, saved.last_activity);
    if (saved.written) kept_.add(saved.message.body.size());
    ChildRequest request;
    request.run = saved.run;
    request.written = saved.written;
    request.begin = saved.begin;
    request.clock.start_clock(saved.started);
    request.message = std::move(saved.message);
    const UpstreamId id = request.message.id;
    return add(id, std::move(request));
  }

  /// The messages of one run, in order of sending.
  std::vector<UpstreamId> of_run(std::uint32_t run) const {
    return select([run](const ChildRequest& request) { return request.run == run; });
  }

  /// How long a notification may wait for a child that does not read; later messages wait too.
  static constexpr std::chrono::seconds delivery_time{30};

  SteadyTime deadline(const ChildRequest& request) const {
    return deadline(request, last_activity_, timeouts_);
  }
  static SteadyTime deadline(const ChildRequest& request, SteadyTime last_activity,
                             MessageTimeouts timeouts) {
    if (request.message.endless) return SteadyTime::max();
    if (request.message.kind != OutgoingKind::request) timeouts.delivery = delivery_time;
    return request.clock.deadline(timeouts, last_activity);
  }

  /// Whether --request-max is the limit that was reached.
  bool took_too_long(const ChildRequest& request, SteadyTime now) const {
    return request.clock.took_too_long(now, timeouts_);
  }

  /// Messages whose time is over; `next`: when the next one is due, if any.
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
  ByteBudget::Share kept_;  ///< for written messages
  MessageTimeouts timeouts_;
  SteadyTime last_activity_{};
};

/// The upstream as a child process that speaks MCP over its stdin and stdout (MCP 2025-11-25,
/// "Transports", stdio; BEHAVIOUR, "Local server").
///
/// A run of the child is one session. When a run ends, the session is lost, and the next
/// `initialize` starts another run unless one was already started; after a short run not before the
/// back-off's first delay, for which it waits here. The end of a message is reported when it was
/// written (a notification, a response) or when the child can no longer answer it.
///
/// The loop's thread only; owned by the daemon. No timeout is ever suspended; timeouts are those of
/// ChildOptions, in milliseconds. Every result of a message is a value, an Ending.
///
/// Memory: frames that the child has not read yet, at most max_queued (an empty queue accepts a
/// frame of any size; over the limit messages end as `overloaded`); requests until they are
/// answered; one line from the child.
class ChildUpstream final : public Upstream {
 public:
  static constexpr std::size_t max_queued = 16u << 20;

  ChildUpstream(EventLoop& loop, ChildOptions options, ByteBudget& budget, Log& log);

  /// Called once, before the first send(): starts the child unless it is lazy. Throws StartError on
  /// failure.
  void start();
  SavedRun save_run() const { return runs_.save(); }
  /// Instead of start().
  void restore_run(const SavedRun& run);

  void reconfigure(const UpstreamOptions& options) override;
  void send(Outgoing&& message) override;
  void abandon(UpstreamId id) override;
  void treat(UpstreamId id, Treatment how) override;
  bool session_opened(const OpenedSession& session) override;
  bool survives_upgrade(std::optional<UpstreamId> id) const override {
    return !id || requests_.find(*id) != nullptr;
  }
  std::vector<SavedMessage> save_messages() const override {
    return requests_.save_requests(loop_.now());
  }
  bool restore(SavedMessage&& message) override;
  /// A session ends with its run; nothing is kept.
  void session_over() override {}
  void refresh_connections() override {}
  void give_up_unsent(const Failure& failure) override;
  void end(std::function<void()> done) override;

 private:
  // From its runs, in a turn. A handler may end the run.
  friend class ChildProcess;
  friend class ChildRuns;
  /// A line of stdout that may be a message.
  void child_message(ReceivedText line);
  /// A line of stdout was over the limit; `answered`: the request that it answers, if known.
  void child_oversized_line(std::optional<UpstreamId> answered);
  /// The run has ended, or could not start. `dead` lives until the end of the turn and reports
  /// nothing more.
  void child_ended(ChildProcess& dead, const Failure& why);

  void begin_run();
  void restart();
  void tell_end_of(UpstreamId id, const Failure& why, std::uint64_t first_unread);
  void refuse(Outgoing message, Failure failure, SessionVerdict verdict);
  void flush();
  void frame_written(QueuedFrame frame);
  void watch_time(const ChildRequest& request);
  void check_time();
  void expire(UpstreamId id);

  EventLoop& loop_;
  const ChildOptions options_;
  Deferred flush_;
  ChildRuns runs_;
  RestartPace pace_;
  std::vector<Outgoing> openings_;  ///< `initialize` messages that wait for another run
  ChildRequests requests_;
  DeadlineTimer clock_;  ///< for the requests
  UndeliveredEndings undelivered_;
  std::vector<QueuedFrame> written_;  ///< empty between writes
  bool stream_opened_ = false;        ///< to be reported
};

}  // namespace bridge
