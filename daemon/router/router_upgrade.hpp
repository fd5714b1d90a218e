#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
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

/// All that the router leaves to the next process.
struct RouterSnapshot {
  std::vector<SavedClient> clients;  ///< those that are served first
  SavedCalls calls;                  ///< that survive
  Listens::Saved listens;
  std::vector<Question> questions;  ///< of the upstream, that have no answer yet
  std::uint64_t last_question = 0;
  std::map<User, SteadyTime> rates;  ///< Permissions::save_rates()

  template <class A>
  void each_field(A& archive) {
    archive(clients, calls, listens, questions, last_question, rates);
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
  /// Whether a job's request goes along, be it that it is in flight or that it waits.
  bool survives_upgrade(const User& user, const JobRequest& job) const;

  /// Without a session that continues there is nothing to be asked, or answered.
  RouterSnapshot save(bool in_session) const;
  /// Router::settings() of legacy clients: what the listens want is theirs.
  SessionSettings settings() const { return router_.restorable_.settings(); }

  // In this order. REQUIRES: pause(), and the session was restored.
  void restore_clients(RouterSnapshot& saved, const std::map<ClientId, ClientChannel*>& channels);
  /// With the listens. `awaited`: those that the upstream knows.
  void restore_requests(RouterSnapshot& saved, const std::set<UpstreamId>& awaited);
  /// With what waits for their answers.
  void restore_questions(RouterSnapshot& saved);
  /// The client still waits for the answer of Control to this request. REQUIRES: it is there.
  Control::Reply continued_reply(ClientId client, std::string_view raw_id);

 private:
  std::vector<SavedClient> save_clients() const;
  void restore(ClientChannel& channel, SavedClient saved);

  Router& router_;
};

}  // namespace bridge
