#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "router/kept_client.hpp"
#include "router/kept_listens.hpp"
#include "router/kept_questions.hpp"
#include "router/kept_request.hpp"
#include "router/router.hpp"

namespace bridge {

/// What of the router an earlier image of the program leaves to the next one, as values, and how
/// that one goes on with them (BEHAVIOUR, "Upgrade in place").
///
/// A view of the router, made where it is needed; the loop's thread only.
class RouterHandover {
 public:
  explicit RouterHandover(Router& router) : router_(router) {}

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
  std::vector<KeptRequest> requests() const { return router_.in_flight_.to_keep(); }
  /// What the upstream has asked, and is not answered yet.
  std::vector<KeptQuestion> questions() const { return router_.server_requests_.to_keep(); }
  std::uint64_t last_question() const { return router_.server_requests_.last_id(); }
  /// What clients are to answer about requests of these.
  std::vector<KeptCall> calls() const { return router_.suspended_calls_.to_keep(); }
  std::vector<KeptRound> rounds() const { return router_.input_rounds_.to_keep(); }
  /// The clients, those that are served first.
  std::vector<KeptClient> clients() const;
  KeptListens listens() const { return router_.listens_.to_keep(); }
  /// Router::settings() of legacy clients: what the listens want is theirs.
  SessionSettings settings() const { return router_.restorable_.settings(); }

  void count_questions_from(std::uint64_t id) { router_.server_requests_.count_from(id); }
  // In this order. REQUIRES: pause(), and the session was restored.
  void go_on_with(ClientChannel& channel, KeptClient kept);
  /// `is_awaited`: the upstream knows of it.
  void go_on_with(KeptRequest kept, bool is_awaited) {
    router_.in_flight_.go_on_with(std::move(kept), is_awaited);
  }
  void go_on_with(KeptListens kept) { router_.listens_.go_on_with(std::move(kept)); }
  void go_on_with(KeptQuestion kept) { router_.server_requests_.go_on_with(std::move(kept)); }
  void go_on_with(KeptCall kept) { router_.suspended_calls_.go_on_with(std::move(kept)); }
  void go_on_with(KeptRound kept) { router_.input_rounds_.go_on_with(std::move(kept)); }
  /// The client still waits for the answer of Control to this request. REQUIRES: it is there.
  Control::Reply continued_reply(ClientId client, std::string_view raw_id);

 private:
  Router& router_;
};

}  // namespace bridge
