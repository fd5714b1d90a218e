// Requests from upstream: sampling, elicitation, roots (product section 5).
#include <algorithm>
#include <utility>

#include "protocol/error_codes.hpp"
#include "protocol/json_text.hpp"
#include "protocol/reply.hpp"
#include "router/methods.hpp"
#include "router/router.hpp"
#include "session/handshake.hpp"

namespace bridge {
namespace {

constexpr std::string_view nobody_answers = "Method not found: no client of the bridge answers it";

}  // namespace

void Router::answer_upstream(std::string body) {
  Outgoing message;
  message.id = ids_.next();
  message.kind = OutgoingKind::answer;
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
  Client* client = nullptr;
  if (origin) {
    const auto owner = pending_.owner(*origin);
    client = owner ? find(*owner) : nullptr;
    const PendingRequest* pending = pending_.find(*origin);
    const std::string_view about =
        pending != nullptr ? std::string_view(pending->client_request_id) : std::string_view();
    if (client != nullptr && !can_answer(*client, frame.method, about)) client = nullptr;
  } else {
    client = choose_client(frame.method);
  }
  const bool nobody_connected =
      std::all_of(clients_.begin(), clients_.end(), [](const auto& entry) {
        return entry.second->is_observer() || !entry.second->channel.can_be_asked({});
      });
  const bool is_watched = onlookers_ != nullptr && onlookers_->somebody_looks_on();
  if (client == nullptr && !is_watched && (origin || !nobody_connected)) {
    log_.peer(LogLevel::info, "request of the upstream refused",
              "the upstream asks for {}: no connected client has declared it",
              printable(frame.method, 80));
    refuse_upstream(raw_id, json_rpc::method_not_found, nobody_answers);
    return;
  }
  ServerRequest request;
  request.id = server_requests_.next_id();
  request.upstream_request_id = raw_id;
  request.method = frame.method;
  request.origin = origin;
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

/// Whether this client has said that it answers such requests, and is ready to.
bool Router::can_answer(const Client& client, std::string_view method,
                        std::string_view about_request) const {
  if (client.half_closed || client.is_observer() || !client.channel.can_be_asked(about_request))
    return false;
  if (client.capabilities && !client.initialized) return false;
  std::string_view capabilities;
  if (client.capabilities) {
    capabilities = *client.capabilities;
  } else {
    capabilities = find_member(session_.initialize_params(), "capabilities").value_or("{}");
  }
  return find_member(capabilities, needed_capability(method)).has_value();
}

Client* Router::choose_client(std::string_view method) {
  Client* longest = nullptr;
  Client* busy = nullptr;
  int busy_clients = 0;
  for (const auto& [id, client] : clients_) {
    if (!can_answer(*client, method)) continue;
    if (longest == nullptr) longest = client.get();
    if (!client->in_flight.empty()) {
      busy = client.get();
      ++busy_clients;
    }
  }
  return busy_clients == 1 ? busy : longest;
}

void Router::ask(Client& client, ServerRequest& request) {
  request.asked = client.id();
  const PendingRequest* about = request.origin ? pending_.find(*request.origin) : nullptr;
  if (about != nullptr) {
    client.channel.send_about(about->client_request_id, request.line);
  } else {
    client.channel.send(request.line);
  }
}

void Router::park(ServerRequest& request) {
  request.asked.reset();
  request.parked_until = std::chrono::steady_clock::now() + options_.park_requests;
  parking_.set_at_latest(request.parked_until);
}

void Router::offer_parked(bool also_to_silent) {
  server_requests_.each([&](ServerRequest& request) {
    if (request.asked) return;
    Client* client = choose_client(request.method);
    if (client != nullptr && (client->seen_ordinary_frame || also_to_silent)) ask(*client, request);
  });
}

void Router::client_can_be_asked(ClientId) {
  if (server_requests_.parked() > 0) offer_parked(false);
}

void Router::expire_parked() {
  offer_parked(true);
  const auto now = std::chrono::steady_clock::now();
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

/// The client will answer nothing more: the session's requests go to another, those that belong to
/// a call of its own can go to nobody, and the upstream must not wait for them. (What belongs to a
/// call that has ended with its client is not here any more.)
void Router::release_server_requests(Client& client) {
  const ClientId id = client.id();
  server_requests_.each([&](ServerRequest& request) {
    if (request.asked != id) return;
    if (request.origin) {
      refuse_upstream(request.upstream_request_id, json_rpc::method_not_found, nobody_answers);
      server_requests_.remove(request);
    } else if (Client* other = choose_client(request.method);
               other != nullptr && other->id() != id) {
      ask(*other, request);
    } else {
      park(request);
    }
  });
}

/// Nobody waits for their answers any more: the next session counts its ids anew.
void Router::drop_server_requests_of_session() {
  server_requests_.each([&](ServerRequest& request) {
    if (request.origin) return;
    if (Client* client = request.asked ? find(*request.asked) : nullptr) {
      client->channel.send(own_notification(
          "notifications/cancelled",
          fmt::format(R"({{"requestId":{},"reason":"the session was lost"}})", request.id)));
    }
    server_requests_.remove(request);
  });
}

void Router::drop_server_requests_of(UpstreamId origin) {
  server_requests_.each([&](ServerRequest& request) {
    if (request.origin == origin) server_requests_.remove(request);
  });
}

}  // namespace bridge
