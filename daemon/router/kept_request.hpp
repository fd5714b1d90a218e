#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "router/declared_answers.hpp"

namespace bridge {

struct PendingRequest;
struct ServerRequest;

/// A client's request whose answer another image of the program awaits, in the same process and
/// with the same clocks. A value. What the upstream knows of it is a KeptMessage.
struct KeptRequest {
  std::uint64_t id = 0;      ///< UpstreamId
  std::uint64_t client = 0;  ///< ClientId; 0: it has left
  bool remote = false;       ///< User
  std::uint64_t uid = 0;
  std::string client_request_id;
  std::string progress_token;
  std::string method;
  std::string subject;
  bool takes_slot = true;
  bool suspended = false;
  bool is_upstream = true;
  bool mirrored_again = false;
  bool is_of_modern_client = false;
  bool goes_modern = false;  ///< PendingRequest::side
  DeclaredAnswers declared;  ///< ModernRequest
  std::string log_level;
  std::uint64_t digest = 0;
  std::string undeclared;
  bool undeclared_by_one_of_several = false;
  std::string original;  ///< InputRound; empty: there is none
  std::uint64_t rounds = 0;
  std::uint64_t pauses = 0;
  std::string traceparent;
  std::uint64_t received = 0;  ///< in ticks of SteadyTime
  std::uint64_t sent = 0;

  template <class Fields>
  void each_field(Fields&& fields) {
    fields(id, client, remote, uid, client_request_id, progress_token, method, subject, takes_slot,
           mirrored_again, is_of_modern_client, declared, log_level, digest, undeclared, original,
           rounds, pauses, traceparent, received, sent, suspended, is_upstream,
           undeclared_by_one_of_several, goes_modern);
  }
};

KeptRequest kept_request(UpstreamId id, const PendingRequest& request);
PendingRequest pending_request_of(KeptRequest kept);

/// A request of the upstream that no client has answered yet, likewise.
struct KeptQuestion {
  std::uint64_t id = 0;  ///< what the client sees
  std::string upstream_request_id;
  std::uint64_t place = 0;
  std::string method;
  std::uint64_t asked_for = 0;  ///< AskedFor
  std::string line;
  std::uint64_t origin = 0;  ///< UpstreamId; 0: the session
  std::uint64_t owner = 0;   ///< ClientId; 0: none
  bool has_user = false;
  bool remote = false;
  std::uint64_t uid = 0;
  std::uint64_t asked = 0;        ///< ClientId; 0: parked
  std::uint64_t asked_since = 0;  ///< in ticks of SteadyTime
  std::uint64_t parked_until = 0;
  std::vector<std::uint64_t> declined;  ///< ClientIds
  bool shown = false;
  std::uint64_t caller_kind = 0;  ///< LikelyCaller
  std::uint64_t caller = 0;       ///< ClientId; 0: none

  template <class Fields>
  void each_field(Fields&& fields) {
    fields(id, upstream_request_id, method, asked_for, line, origin, owner, has_user, remote, uid,
           asked, asked_since, parked_until, declined, shown, place, caller_kind, caller);
  }
};

KeptQuestion kept_question(const ServerRequest& request);
ServerRequest server_request_of(KeptQuestion kept);

}  // namespace bridge
