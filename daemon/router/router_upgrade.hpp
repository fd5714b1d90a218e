#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "router/router.hpp"

namespace bridge {

/// What the router knows of a connected client, and its frames that were not started.
struct SavedClient {
  ClientId id{};
  bool served = true;  ///< ServedClient
  ClientFacts facts;
  std::vector<std::string> waiting;        ///< in the order they came
  std::vector<std::string> control;        ///< `bridge/*` requests, likewise
  std::vector<std::string> subscriptions;  ///< uris

  template <class A>
  void each_field(A& archive) {
    archive(id, served, facts, waiting, control, subscriptions);
  }
};

/// The router in an upgrade (BEHAVIOUR, "Upgrade in place"): how it comes to rest, what it leaves
/// to the next process, and how that one restores it.
///
/// A view of the router, made where it is needed; the loop's thread only.
class RouterUpgrade {
 public:
  explicit RouterUpgrade(Router& router) : router_(router) {}

  /// Nothing of the clients is started until resume(); what is in flight goes on.
  void pause();
  void resume();
  /// Whether the upstream works on nothing, for the clients or for the bridge, but on what
  /// survives.
  bool is_quiet() const;
  /// What is still in flight and does not survive is answered `closed`.
  void end_unfinished();
  /// So is a `bridge/*` request that is not answered by now, and is not handled again afterwards.
  void fail_unanswered_control();
  /// Requests in flight of which that would be so now.
  std::size_t left_behind() const { return router_.in_flight_.left_behind(); }
  /// Whether this client's request in flight survives; and one that has not been started, as it
  /// came.
  bool survives_upgrade(ClientId client, std::string_view raw_id) const;
  std::string waiting_request(ClientId client, std::string_view raw_id) const;
  /// Under which id the client's request is in flight, and what is sent again with answers; 0 and
  /// nothing if there is none.
  std::pair<UpstreamId, std::string> sent_request(ClientId client, std::string_view raw_id) const;

  /// The requests that survive.
  SavedRequests requests() const { return router_.in_flight_.save(); }
  /// What the upstream has asked, and is not answered yet.
  std::vector<ServerRequest> questions() const { return router_.server_requests_.save(); }
  std::uint64_t last_question() const { return router_.server_requests_.last_id(); }
  /// What clients are to answer about requests of these.
  std::vector<SuspendedCalls::Saved> calls() const { return router_.suspended_calls_.save(); }
  std::map<UpstreamId, InputRounds::Saved> rounds() const { return router_.input_rounds_.save(); }
  /// The clients, those that are served first.
  std::vector<SavedClient> clients() const;
  Listens::Saved listens() const { return router_.listens_.save(); }
  /// Router::settings() of legacy clients: what the listens want is theirs.
  SessionSettings settings() const { return router_.restorable_.settings(); }

  void count_questions_from(std::uint64_t id) { router_.server_requests_.count_from(id); }
  // In this order. REQUIRES: pause(), and the session was restored.
  void restore(ClientChannel& channel, SavedClient saved);
  /// `is_awaited`: the upstream knows of it.
  void restore(UpstreamId id, PendingRequest request, bool is_awaited) {
    router_.in_flight_.restore(id, std::move(request), is_awaited);
  }
  void restore(Listens::Saved saved) { router_.listens_.restore(std::move(saved)); }
  void restore(std::vector<ServerRequest> saved) {
    router_.server_requests_.restore(std::move(saved));
  }
  void restore(std::vector<SuspendedCalls::Saved> saved) {
    router_.suspended_calls_.restore(std::move(saved));
  }
  void restore(std::map<UpstreamId, InputRounds::Saved> saved) {
    router_.input_rounds_.restore(std::move(saved));
  }
  /// The client still waits for the answer of Control to this request. REQUIRES: it is there.
  Control::Reply continued_reply(ClientId client, std::string_view raw_id);

 private:
  Router& router_;
};

}  // namespace bridge
