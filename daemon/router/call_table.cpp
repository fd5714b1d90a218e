#include "router/call_table.hpp"

#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "router/client.hpp"

namespace bridge {

std::pair<UpstreamId, const Call*> CallTable::find_call(const Caller& caller,
                                                        std::string_view raw_id) const {
  for (const UpstreamId id : caller.in_flight) {
    const Call* const call = find_call(id);
    if (same_id(call->client_request_id, raw_id)) return {id, call};
  }
  return {};
}

std::optional<UpstreamId> CallTable::named_by(std::string_view raw_id) const {
  const auto number = unsigned_by_value(raw_id);
  const bool is_one = number && find_call(static_cast<UpstreamId>(*number)) != nullptr;
  return is_one ? std::optional(static_cast<UpstreamId>(*number)) : std::nullopt;
}

std::size_t CallTable::slots_used_by(const Caller& caller) const {
  if (caller.client() != nullptr) return caller.in_flight.size();
  return static_cast<std::size_t>(
      std::count_if(caller.in_flight.begin(), caller.in_flight.end(),
                    [this](UpstreamId id) { return find_call(id)->takes_slot(); }));
}

std::size_t CallTable::slots_used_by(const User& user) const {
  return static_cast<std::size_t>(
      std::count_if(calls_.begin(), calls_.end(), [&user](const auto& entry) {
        return entry.second.takes_slot() && entry.second.user == user;
      }));
}

StreamOwner CallTable::owner_of(const Call& call) {
  const Client* const client = call.client();
  return {client != nullptr ? std::optional(client->id()) : std::nullopt, call.job != nullptr};
}

}  // namespace bridge
