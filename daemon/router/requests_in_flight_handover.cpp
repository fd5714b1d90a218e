// Requests in flight that another image of the program awaits.
#include <algorithm>
#include <utility>

#include "router/kept_request.hpp"
#include "router/requests_in_flight.hpp"

namespace bridge {

bool RequestsInFlight::survives_upgrade(UpstreamId id) const {
  const PendingRequest* const request = table_.find(id);
  if (request == nullptr || request->is_own) return false;
  const Client* const client = context_.clients.find(request->client);
  const bool is_kept =
      client == nullptr || client->channel.survives_upgrade(request->client_request_id);
  // What waits for answers of clients is with the upstream no more.
  const bool waits_here = !request->is_upstream && (request->suspended || request->rounds);
  return is_kept && (waits_here || context_.session.survives_upgrade(id));
}

bool RequestsInFlight::survives_upgrade(const Client& client, std::string_view raw_id) const {
  return std::any_of(client.in_flight.begin(), client.in_flight.end(), [&](UpstreamId id) {
    return table_.find(id)->client_request_id == raw_id && survives_upgrade(id);
  });
}

std::size_t RequestsInFlight::left_behind() const {
  return static_cast<std::size_t>(
      std::count_if(table_.begin(), table_.end(), [this](const auto& entry) {
        return !entry.second.suspended && !survives_upgrade(entry.first);
      }));
}

void RequestsInFlight::give_up_left_behind(const Failure& failure, std::string_view reason) {
  std::vector<UpstreamId> ids;
  for (const auto& [id, request] : table_) {
    if (!survives_upgrade(id)) ids.push_back(id);
  }
  give_up(ids, failure, reason);
}

std::vector<KeptRequest> RequestsInFlight::to_keep() const {
  std::vector<KeptRequest> all;
  for (const auto& [id, request] : table_) {
    if (survives_upgrade(id)) all.push_back(kept_request(id, request));
  }
  std::sort(all.begin(), all.end(),
            [](const KeptRequest& a, const KeptRequest& b) { return a.id < b.id; });
  return all;
}

void RequestsInFlight::go_on_with(KeptRequest kept, bool is_awaited) {
  const auto id = static_cast<UpstreamId>(kept.id);
  PendingRequest request = pending_request_of(std::move(kept));
  is_awaited = is_awaited || !request.is_upstream;
  if (request.suspended) ++suspended_;
  Client* const client = context_.clients.find(request.client);
  if (client == nullptr) request.client.reset();
  if (client != nullptr) client->in_flight.push_back(id);
  table_.add(id, std::move(request));
  if (!is_awaited) {
    give_up(id, failure_of(ErrorKind::closed, Delivered::unknown,
                           "the bridge was upgraded, and the answer can come no more"));
  } else if (client != nullptr && client->channel.congested()) {
    context_.session.pause(id, true);
  }
}

}  // namespace bridge
