#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "event/event_loop.hpp"
#include "notifications/notification_feed.hpp"
#include "policy/item_rule.hpp"
#include "router/client.hpp"
#include "router/control.hpp"

namespace bridge {

/// Answers `bridge/notifications` and `bridge/take` (BEHAVIOUR, "Control methods"), and keeps the
/// requests that wait for a notification.
///
/// Owned by ControlMethods; the loop's thread only. Bounds: `max_of_user` waiting requests,
/// `max_taken` numbers and `max_globs` of `longest_glob` bytes in a request, `longest_wait`. An
/// idle one costs a place in the list and the timer's. A request is answered when its client's
/// queue has room.
class RingMethods final : public NotificationReaders {
 public:
  static constexpr std::size_t max_of_user = 64;
  static constexpr std::size_t max_taken = 10'000;
  static constexpr std::size_t max_globs = 64;
  static constexpr std::size_t longest_glob = 128;
  static constexpr std::size_t longest_id = 4096;  ///< bytes of the id of a waiting request
  static constexpr std::chrono::hours longest_wait{1};

  /// `instance` is the ring's name, `longest_http_wait` the limit for callers over HTTP. Feed,
  /// clients and name outlive this.
  RingMethods(EventLoop& loop, NotificationFeed& feed, const Clients& clients,
              const std::string& instance, std::chrono::milliseconds longest_http_wait);

  void read(const Frame& request, const Client& asker, Control::Reply reply);
  std::string take(const Frame& request, const Client& asker);
  /// The daemon ends or is upgraded: answers all that wait.
  void answer_waiting();
  /// The policy may show what it hid from a waiting request.
  void policy_changed();
  std::size_t waiting() const { return waiting_.size(); }

  // As in Control.
  bool cancel(const Client& asker, std::string_view raw_id);
  void client_drained(const Client& client);
  void client_left(const Client& client);

  // NotificationReaders.
  void ring_grew() override;
  void acknowledge_read() override {}  // it only reads

 private:
  /// The params of a `bridge/notifications`, by the ring as it was then.
  struct Query {
    Sequence since{};
    std::uint64_t limit = 100;
    std::chrono::milliseconds wait{};
    bool only_untaken = false;
    bool may_miss = false;  ///< `since` was given: what has left the ring after it is a gap
    bool gap = false;
    ItemRule methods;  ///< of the notifications

    bool wants(const RingEntry& entry, const RingFilter* filter) const;
  };
  struct Waiting {
    Query query;
    Sequence seen{};  ///< up to this one there was nothing for it
    ClientId client{};
    User user;
    std::string request_id;  ///< raw JSON
    SteadyTime until{};
    Control::Reply reply;
  };

  /// What it does not want is a message for the caller.
  std::variant<Query, std::string> query_in(std::string_view params) const;
  bool has_news(const Query& query, Sequence seen, const RingFilter* filter) const;
  std::string result_of(const Query& query, const RingFilter* filter) const;
  Ring& current_ring();
  void answer_due(SteadyTime now);

  EventLoop& loop_;
  NotificationFeed& feed_;
  const Clients& clients_;
  const std::string& instance_;
  const std::chrono::milliseconds longest_http_wait_;
  std::vector<Waiting> waiting_;
  Deferred look_;
  DeadlineTimer clock_;
};

}  // namespace bridge
