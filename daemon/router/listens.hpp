#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "event/event_loop.hpp"
#include "json/frame.hpp"
#include "mcp/subscription_filter.hpp"
#include "notifications/notification_feed.hpp"
#include "router/requests_in_flight.hpp"
#include "router/restorable_state.hpp"
#include "router/router_context.hpp"

namespace bridge {

/// The `subscriptions/listen` requests of modern clients: each is acknowledged, then told of the
/// ring's entries that match its filter (MCP 2026-07-28, "Subscriptions"; BEHAVIOUR, "Eras: a
/// modern client"). And what the upstream is to tell of for all clients: at a modern one the filter
/// of the bridge's own stream, at a legacy one the subscriptions to resources, each until its last
/// holder is gone.
///
/// A listen takes no place of requests in flight. Memory: at most --client-inflight of a client,
/// and of all together max_entries and max_bytes; what its client does not read stays in the ring.
///
/// Owned by the router; the loop's thread only.
class Listens final : public NotificationReaders {
 public:
  /// The resources of a listen that was cut off stay subscribed so much longer.
  static constexpr std::chrono::minutes linger_time{5};
  /// Resources, tasks and members of extensions in the filters of all, and of what stays
  /// subscribed.
  static constexpr std::size_t max_entries = 20'000;
  static constexpr std::size_t max_bytes = 4u << 20;
  /// What waits for the upstream to tell of it is answered then all the same.
  static constexpr std::chrono::seconds longest_wait{5};

  struct Listen {
    ClientId client{};
    std::string raw_id;
    SubscriptionFilter filter;
    std::string extensions;  ///< that its client declares, as JSON; empty: none
    RingReader reader;
    /// What entered the ring later is another session's, which tells it as well; none: no end.
    std::optional<Sequence> ring_end;
    bool is_acknowledged = false;
    /// What the upstream told while its client did not read: a part of the filter.
    SubscriptionFilter missed;

    template <class A>
    void each_field(A& archive) {
      archive(client, raw_id, filter, extensions, reader, archive.not_saved(ring_end),
              is_acknowledged, missed);
    }
  };
  struct Saved {
    std::vector<Listen> listens;            ///< whose clients go along
    Subscriptions::AllListened subscribed;  ///< resources, for these and for others

    template <class A>
    void each_field(A& archive) {
      archive(listens, subscribed);
    }
  };

  Listens(const RouterContext& context, NotificationFeed& feed, RestorableState& restorable,
          RequestsInFlight& in_flight);

  /// A client's request. REQUIRES: the session is open.
  void add(Client& client, const Frame& request);
  /// Answers a legacy client's `resources/subscribe` once the upstream tells of the resource, which
  /// has been accepted already. REQUIRES: a modern upstream.
  void answer_subscribe(Client& client, const Frame& request);
  /// The upstream tells of something else: who has waited for that is answered.
  void upstream_tells();
  /// The upstream told this on the listen that it has for the listens here. False if it is to go
  /// into the ring, from which they are fed.
  bool tell(const Frame& notification);
  /// Changes went unseen: all that is listened for may have changed. False as above.
  bool tell_changed();
  /// Whether the server's modern side serves them.
  bool are_native() const { return context_.session.side_for(Era::modern) == Era::modern; }
  /// Whether the ring is another session's, so that they are not fed from it.
  bool bypass_ring() const { return are_native() && context_.session.ring_source() == Era::legacy; }
  /// Another session may fill the ring now, or serve the listens.
  void sides_changed();
  /// Whether the client has a listen of this id.
  bool has(const Client& client, std::string_view raw_id) const;
  /// Ends the listen of this id; false if the client has none.
  bool cancel(Client& client, std::string_view raw_id);
  /// REQUIRES: it was taken out of Clients.
  void client_left(const Client& client);
  /// The client reads again.
  void proceed(Client& client);
  /// Who waits for the upstream to tell of what was subscribed waits no longer.
  void answer_waiting() { answer_waiting(true); }
  /// The daemon is ending: each is answered.
  void end_all();
  /// In an upgrade: those whose clients do not go along are answered.
  void end_left_behind();
  Saved save() const;
  /// REQUIRES: the clients are there, and the ring was restored.
  void restore(Saved saved);

  /// What legacy clients have subscribed, or the session, is another: the upstream is told.
  void update();
  /// Whether a listen names this resource, or did until it was cut off.
  bool is_subscribed(const std::string& uri) const {
    return !are_native() && subscriptions().is_listened(uri);
  }
  std::size_t size() const { return listens_.size(); }

  void ring_grew() override;
  void acknowledge_read() override {}

 private:
  /// A legacy client's subscription that waits for the upstream.
  struct Subscribing {
    ClientId client;
    std::string raw_id;
    std::string uri;
  };
  using All = std::vector<std::unique_ptr<Listen>>;

  Subscriptions& subscriptions() const { return restorable_.subscriptions(); }
  const EraSession& modern_side() const { return context_.session.side(Era::modern); }
  static bool is_hidden(const Client& client, const Frame& notification);
  static void tell_missed(Client& client, Listen& listen);

  All::const_iterator find(const Client& client, std::string_view raw_id) const;
  bool is_informed_of(const SubscriptionFilter& filter) const;
  void acknowledge(Client& client, Listen& listen);
  void answer_waiting(bool all);
  void end(const std::vector<std::unique_ptr<Listen>>& listens);
  SubscriptionFilter honoured(SubscriptionFilter asked) const;
  SubscriptionFilter acknowledged(SubscriptionFilter filter) const;
  bool make_room_for(const SubscriptionFilter& filter);
  bool has_room_for(const SubscriptionFilter& filter) const;
  void feed(Client& client, Listen& listen);
  void subscribe(const SubscriptionFilter& filter);
  void unsubscribe(const SubscriptionFilter& filter, bool was_cut_off);
  void expire();
  void tell_upstream(std::string_view method, const std::string& uri);

  const RouterContext context_;
  NotificationFeed& feed_;
  RestorableState& restorable_;
  RequestsInFlight& in_flight_;
  All listens_;
  DeadlineTimer expiry_;
  std::vector<Subscribing> subscribing_;
  DeadlineTimer late_;  ///< who still waits then is answered all the same
};

}  // namespace bridge
