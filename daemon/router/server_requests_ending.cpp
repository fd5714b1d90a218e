// How a request of the upstream ends without an answer.
#include <fmt/format.h>

#include <utility>

#include "json/reply.hpp"
#include "router/server_requests.hpp"

namespace bridge {

void ServerRequests::cancel(Frame notification) {
  const std::string_view raw_id = notification.text(notification.request_id);
  ServerRequest* request = raw_id.empty() ? nullptr : table_.find_by_upstream_id(raw_id);
  if (request == nullptr) {
    ++context_.statistics.dropped_notifications;
    return;
  }
  if (Client* client = context_.clients.find(request->asked)) {
    std::string bytes = std::move(notification.bytes);
    const std::string number = std::to_string(request->id);
    splice(bytes, {notification.request_id, number});
    client->channel.send(std::move(bytes));
  }
  table_.remove(*request);
}

/// Nobody waits for its answer any more: whoever was asked is told, and need not go on.
void ServerRequests::withdraw(ServerRequest& request, std::string_view reason) {
  Client* client = context_.clients.find(request.asked);
  if (client != nullptr && client->channel.can_be_asked({}))
    tell_withdrawn(*client, request, reason);
  table_.remove(request);
}

void ServerRequests::tell_withdrawn(Client& client, const ServerRequest& request,
                                    std::string_view reason) {
  client.channel.send(
      own_notification("notifications/cancelled",
                       fmt::format(R"({{"requestId":{},"reason":"{}"}})", request.id, reason)));
}

void ServerRequests::session_replaced() {
  table_.each([&](ServerRequest& request) {
    if (!request.origin) withdraw(request, "the session was lost");
  });
}

void ServerRequests::request_ending(UpstreamId origin) {
  table_.each([&](ServerRequest& request) {
    if (request.origin == origin) withdraw(request, "the request that it belongs to has ended");
  });
}

std::vector<ServerRequest> ServerRequests::save() {
  std::vector<ServerRequest> all;
  table_.each([&](const ServerRequest& request) {
    if (!request.origin || in_flight_.survives_upgrade(*request.origin)) all.push_back(request);
  });
  return all;
}

void ServerRequests::restore(std::vector<ServerRequest> saved) {
  for (ServerRequest& one : saved) {
    ServerRequest& request = table_.add(std::move(one));
    if (!request.asked) {
      parking_.set_at_latest(request.parked_until);
    } else if (context_.clients.find(request.asked) == nullptr) {
      ask_another(request, true, true);  // it was asked over HTTP
    }
  }
}

}  // namespace bridge
