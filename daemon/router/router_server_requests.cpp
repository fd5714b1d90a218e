// Requests from upstream: sampling, elicitation, roots, and whatever else it asks.
#include <algorithm>
#include <utility>

#include "jsonrpc/error_codes.hpp"
#include "jsonrpc/reply.hpp"
#include "mcp/handshake.hpp"
#include "mcp/methods.hpp"
#include "router/router.hpp"
#include "router/who_is_asked.hpp"
#include "text/json_text.hpp"

namespace bridge {
namespace {

constexpr std::string_view nobody_answers = "Method not found: no client of the bridge answers it";
/// Whoever has not answered for so long is asked no further one while another could.
constexpr std::chrono::seconds answer_patience{30};

}  // namespace

void Router::answer_upstream(std::string body) {
  Outgoing message;
  message.id = ids_.next();
  message.kind = OutgoingKind::response;
  message.body = std::move(body);
  session_.send(std::move(message));
}

void Router::refuse_upstream(std::string_view raw_id, int code, std::string_view message) {
  answer_upstream(error_reply(raw_id, code, message));
}

void Router::upstream_request(std::optional<UpstreamId> origin, Frame frame) {
  const std::string raw_id(frame.text(frame.id));
  if (frame.method == "ping") {
    answer_upstream(result_reply(raw_id, "{}"));
    return;
  }
  ServerRequest request;
  request.id = server_requests_.next_id();
  request.upstream_request_id = raw_id;
  request.method = frame.method;
  request.asked_for = asked_for(frame.method, frame.text(frame.params));
  request.origin = origin;
  if (origin) {
    request.owner = pending_.owner(*origin);
    if (const Client* owner = request.owner ? find(*request.owner) : nullptr) {
      request.user = owner->channel.identity().user();
    } else if (const PendingRequest* pending = pending_.find(*origin)) {
      request.user = pending->left;
    }
  }
  Client* client = choose_client(request);
  const bool is_watched = onlookers_ != nullptr && onlookers_->somebody_looks_on();
  if (client == nullptr && !is_watched && (origin || somebody_is_connected())) {
    log_.peer(LogLevel::info, "request of the upstream refused",
              "the upstream asks for {}: no connected client that could be asked has declared it",
              printable(frame.method, 80));
    refuse_upstream(raw_id, json_rpc::method_not_found, nobody_answers);
    return;
  }
  request.line = std::move(frame.bytes);
  const std::string number = std::to_string(request.id);
  splice(request.line, {frame.id, number});
  if (!server_requests_.has_room_for(request.line.size())) {
    refuse_upstream(raw_id, json_rpc::bridge_error,
                    "overloaded: too many requests to clients are unanswered");
    return;
  }
  if (client == nullptr && !server_requests_.can_park(request.line.size())) {
    refuse_upstream(raw_id, json_rpc::bridge_error,
                    "overloaded: nobody is connected and too many requests wait");
    return;
  }
  ServerRequest& added = server_requests_.add(std::move(request));
  added.shown = is_watched;
  if (is_watched) onlookers_->show_request(added.line);
  if (client != nullptr) {
    ask(*client, added);
  } else {
    park(added);
  }
}

/// Who only looks on, or cannot be reached, is nobody to the upstream.
bool Router::somebody_is_connected() const {
  return std::any_of(clients_.begin(), clients_.end(), [](const auto& entry) {
    return !entry.second->is_observer() && entry.second->channel.can_be_asked({});
  });
}

/// The id under which its owner knows the request that it belongs to; empty if that has ended.
std::string_view Router::id_at_owner(const ServerRequest& request) const {
  const PendingRequest* about = request.origin ? pending_.find(*request.origin) : nullptr;
  return about != nullptr ? std::string_view(about->client_request_id) : std::string_view();
}

/// Whether this client has said that it answers such requests, and can be reached. One about a
/// request is nothing for another user's clients.
bool Router::can_answer(const Client& client, const ServerRequest& request) const {
  if (client.half_closed || !client.declared.covers(request.method, request.asked_for))
    return false;
  if (request.origin && request.user != client.channel.identity().user()) return false;
  const auto& declined = request.declined;
  if (std::find(declined.begin(), declined.end(), client.id()) != declined.end()) return false;
  return client.channel.can_be_asked(request.owner == client.id() ? id_at_owner(request)
                                                                  : std::string_view());
}

Client* Router::choose_client(const ServerRequest& request) {
  const SteadyTime long_ago = loop_.now() - answer_patience;
  std::vector<Askable> able;
  for (const auto& [id, client] : clients_) {
    if (!can_answer(*client, request)) continue;
    able.push_back({id, request.owner == id, !client->in_flight.empty(),
                    server_requests_.has_left_open(id, long_ago)});
  }
  const auto chosen = who_is_asked(able);
  return chosen ? find(*chosen) : nullptr;
}

void Router::ask(Client& client, ServerRequest& request) {
  request.asked = client.id();
  request.asked_since = loop_.now();
  const std::string_view about =
      request.owner == client.id() ? id_at_owner(request) : std::string_view();
  if (!about.empty()) {
    client.channel.send_about(about, request.line);
  } else {
    client.channel.send(request.line);
  }
}

/// The one that was asked does not know such requests: another one may. False if there is none.
bool Router::pass_on(ServerRequest& request) {
  if (request.declined.size() == ServerRequest::max_declined) return false;
  request.declined.push_back(*request.asked);
  Client* next = choose_client(request);
  if (next == nullptr) return false;
  ask(*next, request);
  return true;
}

/// Nobody waits for its answer any more: whoever was asked is told, and need not go on.
void Router::withdraw(ServerRequest& request, std::string_view reason) {
  Client* client = request.asked ? find(*request.asked) : nullptr;
  if (client != nullptr && client->channel.can_be_asked({})) {
    client->channel.send(
        own_notification("notifications/cancelled",
                         fmt::format(R"({{"requestId":{},"reason":"{}"}})", request.id, reason)));
  }
  server_requests_.remove(request);
}

void Router::park(ServerRequest& request) {
  request.asked.reset();
  request.parked_until = loop_.now() + options_.park_requests;
  parking_.set_at_latest(request.parked_until);
}

void Router::offer_parked() {
  if (server_requests_.parked() == 0) return;
  server_requests_.each([&](ServerRequest& request) {
    if (request.asked) return;
    if (Client* client = choose_client(request)) ask(*client, request);
  });
}

void Router::client_can_be_asked(ClientId) { offer_parked(); }

void Router::expire_parked() {
  const auto now = loop_.now();
  server_requests_.each([&](ServerRequest& request) {
    if (request.asked) return;
    if (request.parked_until > now) {
      parking_.set_at_latest(request.parked_until);
      return;
    }
    refuse_upstream(request.upstream_request_id, json_rpc::bridge_error,
                    "no client of the bridge is connected");
    server_requests_.remove(request);
  });
}

void Router::upstream_cancels(Frame frame) {
  const std::string_view raw_id = frame.text(frame.request_id);
  ServerRequest* request = raw_id.empty() ? nullptr : server_requests_.find_by_upstream_id(raw_id);
  if (request == nullptr) {
    ++statistics_.dropped_notifications;
    return;
  }
  if (Client* client = request->asked ? find(*request->asked) : nullptr) {
    std::string bytes = std::move(frame.bytes);
    const std::string number = std::to_string(request->id);
    splice(bytes, {frame.request_id, number});
    client->channel.send(std::move(bytes));
  }
  server_requests_.remove(*request);
}

/// The client will answer nothing more: what it was asked goes to another who can. If there is
/// none, the session's requests wait for one; the upstream must not wait for the others, nor for
/// those that are about a request of a client that has left.
void Router::release_server_requests(Client& client) {
  const ClientId id = client.id();
  const bool has_left = find(id) == nullptr;
  server_requests_.each([&](ServerRequest& request) {
    if (request.asked != id) return;
    const bool ends = has_left && request.owner == id;
    if (Client* other = ends ? nullptr : choose_client(request)) {
      ask(*other, request);
    } else if (request.origin) {
      refuse_upstream(request.upstream_request_id, json_rpc::method_not_found, nobody_answers);
      server_requests_.remove(request);
    } else {
      park(request);
    }
  });
}

/// The next session counts its ids anew.
void Router::drop_server_requests_of_session() {
  server_requests_.each([&](ServerRequest& request) {
    if (!request.origin) withdraw(request, "the session was lost");
  });
}

void Router::drop_server_requests_of(UpstreamId origin) {
  server_requests_.each([&](ServerRequest& request) {
    if (request.origin == origin) withdraw(request, "the request that it belongs to has ended");
  });
}

}  // namespace bridge
