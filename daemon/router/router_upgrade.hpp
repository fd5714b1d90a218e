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

/// A connected client and its frames that were not started.
struct SavedClient {
  ClientId id{};
  bool served = true;  ///< see ServedClient
  ClientFacts facts;
  std::vector<std::string> waiting;        ///< in order of arrival
  std::vector<std::string> control;        ///< `bridge/*` requests, in order of arrival
  std::vector<std::string> subscriptions;  ///< uris

  template <class A>
  void each_field(A& archive) {
    archive(id, served, facts, waiting, control, subscriptions);
  }
};

/// The router's part of an upgrade's snapshot.
struct RouterSnapshot {
  std::vector<SavedClient> clients;  ///< served ones first
  SavedCalls calls;                  ///< those that survive
  Listens::Saved listens;
  std::vector<Question> questions;     ///< unanswered questions of the upstream
  std::vector<ToldNames::Entry> told;  ///< names that only one client knows
  std::uint64_t last_question = 0;
  std::map<User, SteadyTime> rates;  ///< Permissions::save_rates()
  std::vector<SavedGrant> grants;
  std::string grant_key;                                 ///< secret
  std::map<std::string, RunningGrant> running_grants{};  ///< by id

  template <class A>
  void each_field(A& archive) {
    archive(clients, calls, listens, questions, told, last_question, rates, grants, grant_key,
            running_grants);
  }
};

/// The router in an upgrade (BEHAVIOUR, "Upgrade in place"): pausing, saving for the next process,
/// restoring there.
///
/// A view of the router, made on demand; the loop's thread only.
class RouterUpgrade {
 public:
  explicit RouterUpgrade(Router& router) : router_(router) {}

  /// Starts no client frame until resume(); requests in flight continue.
  void pause();
  void resume();
  /// Whether the upstream works only on requests that survive.
  bool is_quiet() const;
  /// Answers requests in flight that do not survive with `closed`.
  void end_unfinished();
  /// Does the same for unanswered `bridge/*` requests that the new process does not handle again.
  void fail_unanswered_control();
  /// The number of requests in flight that do not survive.
  std::size_t left_behind() const { return router_.parts_.in_flight.left_behind(); }
  /// Whether a job's request survives, waiting or in flight.
  bool survives_upgrade(Caller& caller, std::string_view raw_id) const;

  /// If the session does not continue, calls and questions are not saved.
  RouterSnapshot save(bool in_session) const;
  /// UpstreamReceiver::settings() without what the listens want, which they restore themselves.
  SessionSettings settings() const { return router_.parts_.restorable.settings(); }

  /// Before any job and client, which may have them.
  void restore_grants(RouterSnapshot& saved);
  // To be called in this order. REQUIRES: pause(), and the session was restored.
  void restore_clients(RouterSnapshot& saved, const std::map<ClientId, ClientChannel*>& channels);
  /// Also the listens. `awaited`: requests that the upstream knows.
  void restore_requests(RouterSnapshot& saved, const std::set<UpstreamId>& awaited);
  /// Also what waits for their answers.
  void restore_questions(RouterSnapshot& saved);
  /// For a client that still waits for the answer of Control to this request. REQUIRES: the client
  /// is connected.
  Control::Reply continued_reply(ClientId client, std::string_view raw_id);

 private:
  std::vector<SavedClient> save_clients() const;
  void restore(ClientChannel& channel, SavedClient saved);

  Router& router_;
};

}  // namespace bridge
