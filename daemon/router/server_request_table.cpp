#include "router/server_request_table.hpp"

#include <algorithm>
#include <utility>

#include "json/json_text.hpp"

namespace bridge {

std::size_t ServerRequestTable::parked() const {
  return static_cast<std::size_t>(
      std::count_if(requests_.begin(), requests_.end(),
                    [](const ServerRequest& request) { return !request.asked; }));
}

bool ServerRequestTable::can_park(std::size_t bytes) const {
  std::size_t parked_bytes = bytes;
  for (const ServerRequest& request : requests_) {
    if (!request.asked) parked_bytes += request.line.size();
  }
  return parked() < max_parked && parked_bytes <= max_parked_bytes;
}

ServerRequest& ServerRequestTable::add(ServerRequest request) {
  bytes_ += request.line.size();
  requests_.push_back(std::move(request));
  return requests_.back();
}

void ServerRequestTable::remove(const ServerRequest& request) {
  const auto found = std::find_if(requests_.begin(), requests_.end(),
                                  [&](const ServerRequest& one) { return &one == &request; });
  if (found == requests_.end()) return;
  bytes_ -= found->line.size();
  requests_.erase(found);
}

ServerRequest* ServerRequestTable::find(std::uint64_t id) {
  const auto found = std::find_if(requests_.begin(), requests_.end(),
                                  [id](const ServerRequest& one) { return one.id == id; });
  return found == requests_.end() ? nullptr : &*found;
}

ServerRequest* ServerRequestTable::find_told(std::string_view raw_id) {
  const auto number = to_unsigned(raw_id);
  return number ? find(*number) : nullptr;
}

ServerRequest* ServerRequestTable::find_by_upstream_id(std::string_view raw_id) {
  const auto found = std::find_if(
      requests_.begin(), requests_.end(),
      [raw_id](const ServerRequest& one) { return same_id(one.upstream_request_id, raw_id); });
  return found == requests_.end() ? nullptr : &*found;
}

bool ServerRequestTable::has_left_open(ClientId client, SteadyTime then) const {
  return std::any_of(requests_.begin(), requests_.end(), [&](const ServerRequest& one) {
    return one.asked == client && one.asked_since <= then;
  });
}

}  // namespace bridge
