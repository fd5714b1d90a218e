#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <iterator>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/byte_budget.hpp"
#include "base/spare_memory.hpp"
#include "event/event_loop.hpp"
#include "upstream/streamable_http/exchange.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// Messages that wait to be sent: requests for a token; notifications and responses also because
/// too many are under way.
///
/// The latter take no slots, but each needs a connection: without a bound, an upstream that floods
/// the bridge with pings, or a client with cancellations, would open thousands. Pure; owned by
/// HttpUpstream. Memory: requests are bounded by the router; of the others at most max_bytes. Full:
/// the message is not accepted, and ends with `overloaded`.
class UnsentMessages {
 public:
  static constexpr std::size_t max_under_way = 32;
  static constexpr std::size_t max_bytes = 8u << 20;

  explicit UnsentMessages(ByteBudget& budget) : share_(budget) {}

  bool empty() const { return requests_.empty() && deliveries_.empty(); }
  /// Whether another message of this kind may be sent now.
  bool may_start(OutgoingKind kind) const {
    return kind == OutgoingKind::request || under_way_ < max_under_way;
  }
  void started(OutgoingKind kind) { under_way_ += kind != OutgoingKind::request ? 1 : 0; }
  void message_ended(OutgoingKind kind) { under_way_ -= kind != OutgoingKind::request ? 1 : 0; }

  /// False: no room; the message is unchanged.
  bool push(Outgoing&& message) {
    if (message.kind == OutgoingKind::request) {
      requests_.push_back(std::move(message));
      return true;
    }
    const std::size_t charge = charge_of(message);
    if (!deliveries_.empty() && share_.held() + charge > max_bytes) return false;
    share_.add(charge);
    deliveries_.push_back(std::move(message));
    return true;
  }

  /// The next message that may be sent; empty: none.
  std::optional<Outgoing> pop() {
    std::deque<Outgoing>& from = requests_.empty() ? deliveries_ : requests_;
    if (from.empty() || !may_start(from.front().kind)) return std::nullopt;
    Outgoing message = std::move(from.front());
    from.pop_front();
    if (&from == &deliveries_) share_.remove(charge_of(message));
    return message;
  }

  void forget(UpstreamId id) {
    const auto is_it = [id](const Outgoing& one) { return one.id == id; };
    std::erase_if(requests_, is_it);
    const auto found = std::find_if(deliveries_.begin(), deliveries_.end(), is_it);
    if (found == deliveries_.end()) return;
    share_.remove(charge_of(*found));
    deliveries_.erase(found);
  }

  std::deque<Outgoing> take_requests() { return std::exchange(requests_, {}); }
  std::deque<Outgoing> take_all() {
    share_.set(0);
    std::deque<Outgoing> all = take_requests();
    std::move(deliveries_.begin(), deliveries_.end(), std::back_inserter(all));
    deliveries_.clear();
    return all;
  }

 private:
  static std::size_t charge_of(const Outgoing& message) {
    return message.body.size() + sizeof(Outgoing);
  }

  std::deque<Outgoing> requests_;
  std::deque<Outgoing> deliveries_;
  std::size_t under_way_ = 0;  ///< messages other than requests
  ByteBudget::Share share_;    ///< for deliveries_
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
