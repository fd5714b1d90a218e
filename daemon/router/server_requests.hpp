#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>

#include "loop/deadline_timer.hpp"
#include "protocol/ids.hpp"

namespace bridge {

/// A request of the upstream (sampling, elicitation, roots) that is not answered yet.
struct ServerRequest {
  std::uint64_t id = 0;             ///< what the client sees
  std::string upstream_request_id;  ///< raw JSON, as the upstream wrote it
  std::string method;
  std::string line;                  ///< with the client's id in it
  std::optional<UpstreamId> origin;  ///< the client request it belongs to; none: the session
  std::optional<ClientId> asked;     ///< none: parked
  SteadyTime parked_until{};
  bool shown = false;  ///< to onlookers, who may answer while nobody is asked
};

/// All of them. Pure. Bounded: `max_parked` requests and `max_parked_bytes` may be parked, and
/// `max_requests` and `max_bytes` are kept in all.
class ServerRequests {
 public:
  static constexpr std::size_t max_parked = 64;
  static constexpr std::size_t max_parked_bytes = 1u << 20;
  static constexpr std::size_t max_requests = 1024;
  static constexpr std::size_t max_bytes = 16u << 20;

  std::uint64_t next_id() { return ++last_id_; }

  bool has_room_for(std::size_t bytes) const {
    return requests_.size() < max_requests && bytes_ + bytes <= max_bytes;
  }
  bool can_park(std::size_t bytes) const;

  ServerRequest& add(ServerRequest request);
  void remove(const ServerRequest& request);

  ServerRequest* find(std::uint64_t id);
  ServerRequest* find_by_upstream_id(std::string_view raw_id);

  template <class Visit>
  void each(Visit&& visit) {
    for (auto at = requests_.begin(); at != requests_.end();) visit(*at++);
  }

  std::size_t parked() const;

 private:
  std::list<ServerRequest> requests_;
  std::size_t bytes_ = 0;
  std::uint64_t last_id_ = 0;
};

}  // namespace bridge
