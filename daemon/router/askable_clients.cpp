#include "router/askable_clients.hpp"

#include <algorithm>
#include <chrono>

#include "router/clients.hpp"
#include "router/requests_in_flight.hpp"

namespace bridge {
namespace {

/// Whoever has not answered for so long is asked no further one while another could.
constexpr std::chrono::seconds answer_timeout{30};

}  // namespace

bool has_declined(const ServerRequest& request, ClientId client) {
  const auto& declined = request.declined;
  return std::find(declined.begin(), declined.end(), client) != declined.end();
}

AskableClients::AskableClients(const RouterContext& context, const RequestsInFlight& in_flight,
                               const ServerRequestTable& table)
    : context_(context), in_flight_(in_flight), table_(table) {}

bool AskableClients::somebody_is_connected() const {
  const Clients& clients = context_.clients;
  return std::any_of(clients.begin(), clients.end(), [](const auto& entry) {
    return !entry.second->is_observer() && entry.second->channel.can_be_asked({});
  });
}

std::string_view AskableClients::subject(const ServerRequest& request, const Client& client) const {
  if (request.owner != client.id()) return {};
  const PendingRequest* about = in_flight_.find(request.origin);
  return about != nullptr ? std::string_view(about->client_request_id) : std::string_view();
}

/// Whether this client has said that it answers such requests, and can be reached. One about a
/// request is nothing for another user's clients.
bool AskableClients::can_answer(const Client& client, const ServerRequest& request) const {
  if (client.half_closed || !client.declared.covers(request.method, request.asked_for))
    return false;
  if (request.origin && request.user != client.user) return false;
  // A job answers only about its own request, and no job stands for another client's.
  if (client.is_job && request.origin && subject(request, client).empty()) return false;
  return !has_declined(request, client.id()) &&
         client.channel.can_be_asked(subject(request, client));
}

std::vector<Askable> AskableClients::able(const ServerRequest& request) const {
  const SteadyTime long_ago = context_.loop.now() - answer_timeout;
  std::vector<Askable> able;
  for (const auto& [id, client] : context_.clients) {
    if (!can_answer(*client, request)) continue;
    able.push_back({id, request.owner == id, !client->in_flight.empty(),
                    !client->is_job && table_.has_left_open(id, long_ago), client->is_job});
  }
  return able;
}

Client* AskableClients::choose(const ServerRequest& request) const {
  return context_.clients.find(who_is_asked(able(request)));
}

}  // namespace bridge
