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
#include "router/own_subscriptions.hpp"
#include "router/requests_in_flight.hpp"
#include "router/restorable_state.hpp"
#include "router/router_context.hpp"

namespace bridge {

/// The `subscriptions/listen` requests of modern clients: each is acknowledged, then gets the ring
/// entries that match its filter (MCP 2026-07-28, "Subscriptions"; BEHAVIOUR, "Eras: a modern
/// client"). Also what the upstream must notify for all clients: at a modern upstream the filter of
/// the bridge's own listen stream, at a legacy one the resource subscriptions, each until its last
/// holder is gone.
///
/// A listen takes no slot. Bounds: --client-inflight per client; filter_limit for each, max_entries
/// and max_bytes in all; what a client does not read stays in the ring; what the upstream must be
/// asked for waits in OwnRequests.
///
/// Owned by the router; the loop's thread only.
class Listens final : public NotificationReaders {
 public:
  /// How long the resources of a listen that was cut off stay subscribed.
  static constexpr std::chrono::minutes linger_time{5};
  /// Resources, tasks and extension members in all filters, including lingering subscriptions.
  static constexpr std::size_t max_entries = 20'000;
  static constexpr std::size_t max_bytes = 4u << 20;
  /// The longest wait for the upstream to confirm a filter; then the client is answered without it.
  static constexpr std::chrono::seconds longest_wait{5};

  struct Listen {
    ClientId client{};
    std::string raw_id;
    SubscriptionFilter filter;
    std::string extensions;  ///< declared by its client, as JSON; empty: none
    RingReader reader;
    /// Later ring entries belong to another session, which delivers them itself; none: no end.
    std::optional<Sequence> ring_end;
    bool is_acknowledged = false;
    /// What the upstream notified while the client did not read: a part of the filter.
    SubscriptionFilter missed;

    template <class A>
    void each_field(A& archive) {
      archive(client, raw_id, filter, extensions, reader, archive.not_saved(ring_end),
              is_acknowledged, missed);
    }
  };
  struct Saved {
    std::vector<Listen> listens;            ///< those whose clients survive the upgrade
    Subscriptions::AllListened subscribed;  ///< resources, of these and of other listens

    template <class A>
    void each_field(A& archive) {
      archive(listens, subscribed);
    }
  };

  Listens(const RouterContext& context, NotificationFeed& feed, RestorableState& restorable,
          RequestsInFlight& in_flight, OwnSubscriptions& own_subscriptions);

  /// How many resources the upstream would have to be asked to subscribe for this listen.
  std::size_t count_new_subscriptions(const Frame& listen) const;
  /// A client's request. REQUIRES: the session is open.
  void add_listen(Client& client, const Frame& request);
  /// Answers a legacy client's accepted `resources/subscribe` once the upstream confirms the
  /// resource. REQUIRES: a modern upstream.
  void answer_subscribe(Client& client, const Frame& request);
  /// The upstream has confirmed another filter: answers the clients that waited for it.
  void upstream_tells();
  /// A notification on the bridge's own listen stream for these listens. False: it goes into the
  /// ring, from which they are fed.
  bool tell(const Frame& notification);
  /// Changes were missed: everything that is listened for may have changed. False as above.
  bool tell_changed();
  /// Whether the server's modern side serves the listens.
  bool are_native() const { return &context_.session.serving_listens() == &modern_side(); }
  /// Whether another session fills the ring, so that the listens are not fed from it.
  bool bypass_ring() const { return are_native() && !fill_ring(); }
  /// Another session may fill the ring now, or serve the listens.
  void sides_changed();
  /// Whether the client has a listen with this id.
  bool has(const Client& client, std::string_view raw_id) const;
  /// Ends the listen with this id; false if the client has none.
  bool cancel(Client& client, std::string_view raw_id);
  /// REQUIRES: the client was removed from Clients.
  void client_left(const Client& client);
  /// The client's grant has ended: answers its listens.
  void grant_ended(ClientId id);
  /// The client reads again.
  void proceed(Client& client);
  /// Answers the clients that wait for a confirmation of the upstream.
  void answer_waiting() { answer_waiting(true); }
  /// The daemon is ending: answers each listen.
  void end_all();
  /// In an upgrade: answers those whose clients do not survive it.
  void end_left_behind();
  Saved save_listens() const;
  /// REQUIRES: the clients and the ring were restored.
  void restore(Saved saved);

  /// The subscriptions of legacy clients, or the session, have changed: updates the upstream.
  void update();
  /// Whether a listen names this resource, or one that was cut off still holds it.
  bool is_subscribed(const std::string& uri) const {
    return !are_native() && subscriptions().is_listened(uri);
  }
  std::size_t size() const { return listens_.size(); }

  void ring_grew() override;
  void acknowledge_read() override {}

 private:
  /// A legacy client's subscription that waits for the upstream's confirmation.
  struct Subscribing {
    ClientId client;
    std::string raw_id;
    std::string uri;
  };
  using All = std::vector<std::unique_ptr<Listen>>;

  Subscriptions& subscriptions() const { return restorable_.subscriptions(); }
  EraSession& modern_side() const { return context_.session.stateless(); }
  /// Whether the ring is filled from the bridge's own listen stream.
  bool fill_ring() const { return context_.session.ring_source() == modern_side().era(); }
  static bool is_hidden(const Client& client, const Frame& notification);
  static void tell_missed(Client& client, Listen& listen);

  All::const_iterator find_listen(const Client& client, std::string_view raw_id) const;
  bool is_informed_of(const SubscriptionFilter& filter) const;
  template <class Leaves>
  All take_out(Leaves&& leaves);
  void acknowledge(Client& client, Listen& listen);
  void answer_waiting(bool all);
  void answer_ended(const std::vector<std::unique_ptr<Listen>>& listens);
  SubscriptionFilter honoured(SubscriptionFilter asked) const;
  SubscriptionFilter acknowledged(SubscriptionFilter filter) const;
  bool make_room_for(const SubscriptionFilter& filter);
  bool has_room_for(const SubscriptionFilter& filter) const;
  void feed(Client& client, Listen& listen);
  void subscribe(const SubscriptionFilter& filter, const Client& client);
  void unsubscribe(const SubscriptionFilter& filter, bool was_cut_off);
  void expire();
  void tell_upstream(bool subscribes, const std::string& uri, const Client* cause);

  const RouterContext context_;
  NotificationFeed& feed_;
  RestorableState& restorable_;
  RequestsInFlight& in_flight_;
  OwnSubscriptions& own_subscriptions_;
  All listens_;
  DeadlineTimer expiry_;
  std::vector<Subscribing> subscribing_;
  DeadlineTimer late_;  ///< fires at longest_wait
};

}  // namespace bridge
