#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/byte_budget.hpp"
#include "base/clock.hpp"
#include "base/spare_memory.hpp"
#include "event/event_loop.hpp"
#include "upstream/streamable_http/exchange.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// Messages that wait to be sent: requests for a token; notifications and responses also because
/// too many are under way.
///
/// The latter take no slots, but each needs a connection: without a bound, an upstream that floods
/// the bridge with pings, or a client with cancellations, would open thousands. Of cancellations a
/// client can send any number, of other notifications one at a time: these go first, and
/// cancellations use at most half of the connections and the bytes.
///
/// The loop's thread only; owned by HttpUpstream. Memory: requests are bounded by the router; of
/// the others at most max_bytes. Full: the message is not accepted, and ends with `overloaded`.
/// What waits for longer than max_wait is overdue.
class UnsentMessages {
 public:
  static constexpr std::size_t max_under_way = 32;
  static constexpr std::size_t max_bytes = 8u << 20;
  static constexpr std::chrono::seconds max_wait{30};

  /// `overdue` is called by the loop: there may be take_overdue().
  UnsentMessages(EventLoop& loop, ByteBudget& budget, std::function<void()> overdue)
      : loop_(loop), share_(budget), timer_(loop, std::move(overdue)) {}

  bool empty() const { return requests_.empty() && !has_deliveries(); }
  /// Whether this message may be sent now.
  bool may_start(const Outgoing& message) const {
    return message.kind == OutgoingKind::request ||
           under_way_ < (message.cancels ? max_under_way / 2 : max_under_way);
  }
  void started(const Outgoing& message) {
    under_way_ += message.kind != OutgoingKind::request ? 1 : 0;
  }
  void message_ended(const Outgoing& message) {
    under_way_ -= message.kind != OutgoingKind::request ? 1 : 0;
  }

  /// False: no room; the message is unchanged.
  bool push(Outgoing&& message) {
    if (message.kind == OutgoingKind::request) {
      requests_.push_back(std::move(message));
      return true;
    }
    const std::size_t bytes = share_.held() + charge_of(message);
    if (has_deliveries() && bytes > (message.cancels ? max_bytes / 2 : max_bytes)) return false;
    share_.set(bytes);
    Deliveries& to = message.cancels ? cancellations_ : deliveries_;
    to.push_back({std::move(message), loop_.now() + max_wait});
    timer_.set_at_latest(to.back().due);
    return true;
  }

  /// The next message that may be sent; empty: none.
  std::optional<Outgoing> pop() {
    if (!requests_.empty()) {
      Outgoing request = std::move(requests_.front());
      requests_.pop_front();
      return request;
    }
    Deliveries& from = deliveries_.empty() ? cancellations_ : deliveries_;
    if (from.empty() || !may_start(from.front().message)) return std::nullopt;
    return take(from, 0);
  }

  void forget(UpstreamId id) {
    std::erase_if(requests_, [id](const Outgoing& one) { return one.id == id; });
    for (Deliveries* from : {&deliveries_, &cancellations_}) {
      const auto found = std::find_if(from->begin(), from->end(),
                                      [id](const Delivery& one) { return one.message.id == id; });
      if (found != from->end()) take(*from, static_cast<std::size_t>(found - from->begin()));
    }
  }

  /// Those whose time is over.
  std::vector<UpstreamId> take_overdue() {
    std::vector<UpstreamId> overdue;
    for (Deliveries* from : {&deliveries_, &cancellations_}) {
      while (!from->empty() && from->front().due <= loop_.now())
        overdue.push_back(take(*from, 0).id);
      if (!from->empty()) timer_.set_at_latest(from->front().due);
    }
    return overdue;
  }

  std::deque<Outgoing> take_requests() { return std::exchange(requests_, {}); }
  std::deque<Outgoing> take_all() {
    std::deque<Outgoing> all = take_requests();
    for (Deliveries* from : {&deliveries_, &cancellations_}) {
      while (!from->empty()) all.push_back(take(*from, 0));
    }
    return all;
  }

 private:
  struct Delivery {
    Outgoing message;
    SteadyTime due;
  };
  using Deliveries = std::deque<Delivery>;

  static std::size_t charge_of(const Outgoing& message) {
    return message.body.size() + sizeof(Delivery);
  }
  bool has_deliveries() const { return !deliveries_.empty() || !cancellations_.empty(); }
  Outgoing take(Deliveries& from, std::size_t at) {
    Outgoing message = std::move(from[at].message);
    share_.remove(charge_of(message));
    from.erase(from.begin() + static_cast<Deliveries::difference_type>(at));
    if (!has_deliveries()) timer_.clear();
    return message;
  }

  EventLoop& loop_;
  std::deque<Outgoing> requests_;
  Deliveries deliveries_;  ///< notifications and responses
  Deliveries cancellations_;
  std::size_t under_way_ = 0;  ///< messages other than requests
  ByteBudget::Share share_;    ///< for both kinds of deliveries
  DeadlineTimer timer_;        ///< set while there are deliveries
};

/// The exchanges under way, and their limits: deadlines (BEHAVIOUR, "Deadlines"), and
/// --max-buffered in all.
///
/// The loop's thread only; owned by HttpUpstream. An exchange whose time is over, or that must make
/// room, is ended and reported like any other end.
class ExchangeTable {
 public:
  ExchangeTable(HttpContext& context, HttpUpstream& owner);

  bool empty() const { return exchanges_.empty(); }
  /// Whether an exchange is unanswered, does not stay open as a stream, and does not survive an
  /// upgrade.
  bool has_unfinished(bool server_stream_resumes) const;
  Exchange* find(UpstreamId id) const;
  /// In order of start.
  std::vector<UpstreamId> ids() const;

  void begin_exchange(Outgoing&& message);
  /// A message that the previous process sent.
  void restore(SavedMessage message);
  /// Closes it; destroyed at the end of the turn.
  void remove(UpstreamId id);
  /// Its deadline may be earlier now.
  void watch(const Exchange& exchange);
  /// Applies a change to all.
  template <class Change>
  void change_all(Change&& change) {
    for (const auto& [id, exchange] : exchanges_) {
      change(*exchange);
      watch(*exchange);
    }
  }
  /// Buffers have grown or shrunk: if they are full for too long, an accumulating answer is ended
  /// that cannot wait for room, or no longer grows.
  void note_buffers();
  /// Bytes were released: reads answers on that wait for room.
  void look_for_room();

 private:
  using Map = std::unordered_map<UpstreamId, std::unique_ptr<Exchange>>;

  void check_time();
  void make_room();
  Exchange* largest_that_cannot_wait() const;

  HttpContext& context_;
  HttpUpstream& owner_;
  Map exchanges_;
  SpareNodes<Map> spare_;
  DeadlineTimer clock_;        ///< for requests: distant and seldom changed
  DeadlineTimer short_clock_;  ///< for short deadlines; cleared when nothing is under way
  DeadlineTimer relief_;       ///< when the buffers have been full for too long
  SteadyTime last_look_{};     ///< AnswerRoom::note_time()
};

}  // namespace bridge
