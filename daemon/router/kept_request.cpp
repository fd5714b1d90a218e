#include "router/kept_request.hpp"

#include <memory>
#include <utility>

#include "router/pending_requests.hpp"
#include "router/server_request_table.hpp"

namespace bridge {
namespace {

template <class Id>
std::uint64_t number_of(const std::optional<Id>& id) {
  return id ? value_of(*id) : 0;
}
template <class Id>
std::optional<Id> id_of(std::uint64_t number) {
  return number != 0 ? std::optional(static_cast<Id>(number)) : std::nullopt;
}

}  // namespace

KeptRequest kept_request(UpstreamId id, const PendingRequest& request) {
  KeptRequest kept;
  kept.id = value_of(id);
  kept.client = number_of(request.client);
  kept.remote = request.user.remote;
  kept.uid = request.user.uid;
  kept.client_request_id = request.client_request_id;
  kept.progress_token = request.progress_token;
  kept.method = request.method;
  kept.subject = request.subject;
  kept.takes_slot = request.takes_slot;
  kept.suspended = request.suspended;
  kept.is_upstream = request.is_upstream;
  kept.mirrored_again = request.mirrored_again;
  kept.is_of_modern_client = request.era == Era::modern;
  kept.goes_modern = request.side == Era::modern;
  if (request.modern) {
    kept.declared = request.modern->declared;
    kept.log_level = request.modern->log_level;
    kept.digest = request.modern->digest;
    kept.undeclared = request.modern->undeclared;
    kept.undeclared_by_one_of_several = request.modern->undeclared_by_one_of_several;
  }
  if (request.rounds) {
    kept.original = request.rounds->original;
    kept.rounds = request.rounds->rounds;
    kept.pauses = request.rounds->pauses;
  }
  if (request.traceparent) kept.traceparent = *request.traceparent;
  kept.received = ticks_of(request.received);
  kept.sent = ticks_of(request.sent);
  return kept;
}

PendingRequest pending_request_of(KeptRequest kept) {
  PendingRequest request;
  request.client = id_of<ClientId>(kept.client);
  request.user = {kept.remote, static_cast<uid_t>(kept.uid)};
  request.client_request_id = std::move(kept.client_request_id);
  request.progress_token = std::move(kept.progress_token);
  request.method = std::move(kept.method);
  request.subject = std::move(kept.subject);
  request.takes_slot = kept.takes_slot;
  request.suspended = kept.suspended;
  request.is_upstream = kept.is_upstream;
  request.mirrored_again = kept.mirrored_again;
  request.side = kept.goes_modern ? Era::modern : Era::legacy;
  if (kept.is_of_modern_client) {
    request.era = Era::modern;
    request.modern = std::make_unique<ModernRequest>(
        ModernRequest{std::move(kept.declared), std::move(kept.log_level), kept.digest,
                      std::move(kept.undeclared), kept.undeclared_by_one_of_several});
  }
  if (!kept.original.empty()) {
    request.rounds = std::make_unique<InputRound>(InputRound{std::move(kept.original),
                                                             static_cast<unsigned>(kept.rounds),
                                                             static_cast<unsigned>(kept.pauses)});
  }
  if (!kept.traceparent.empty())
    request.traceparent = std::make_unique<const std::string>(std::move(kept.traceparent));
  request.received = steady_time_of(kept.received);
  request.sent = steady_time_of(kept.sent);
  return request;
}

KeptQuestion kept_question(const ServerRequest& request) {
  KeptQuestion kept;
  kept.id = request.id;
  kept.upstream_request_id = request.upstream_request_id;
  kept.place = request.place;
  kept.method = request.method;
  kept.asked_for = static_cast<std::uint64_t>(request.asked_for);
  kept.line = request.line;
  kept.origin = number_of(request.origin);
  kept.owner = number_of(request.owner);
  if (request.user) {
    kept.has_user = true;
    kept.remote = request.user->remote;
    kept.uid = request.user->uid;
  }
  kept.asked = number_of(request.asked);
  kept.asked_since = ticks_of(request.asked_since);
  kept.parked_until = ticks_of(request.parked_until);
  for (const ClientId client : request.declined) kept.declined.push_back(value_of(client));
  kept.shown = request.shown;
  kept.caller_kind = static_cast<std::uint64_t>(request.caller.kind);
  kept.caller = number_of(request.caller.client);
  return kept;
}

ServerRequest server_request_of(KeptQuestion kept) {
  ServerRequest request;
  request.id = kept.id;
  request.upstream_request_id = std::move(kept.upstream_request_id);
  request.place = kept.place;
  request.method = std::move(kept.method);
  request.asked_for = static_cast<AskedFor>(kept.asked_for);
  request.line = std::move(kept.line);
  request.origin = id_of<UpstreamId>(kept.origin);
  request.owner = id_of<ClientId>(kept.owner);
  if (kept.has_user) request.user = {kept.remote, static_cast<uid_t>(kept.uid)};
  request.asked = id_of<ClientId>(kept.asked);
  request.asked_since = steady_time_of(kept.asked_since);
  request.parked_until = steady_time_of(kept.parked_until);
  for (const std::uint64_t client : kept.declined)
    request.declined.push_back(static_cast<ClientId>(client));
  request.shown = kept.shown;
  request.caller = {static_cast<LikelyCaller::Kind>(kept.caller_kind),
                    id_of<ClientId>(kept.caller)};
  return request;
}

}  // namespace bridge
