#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "event/event_loop.hpp"
#include "router/asked_for.hpp"
#include "router/likely_caller.hpp"
#include "router/user.hpp"

namespace bridge {

/// A request of the upstream that is not answered yet, or a question in a result of it.
struct ServerRequest {
  /// After so many clients have declined it, the last one's answer counts.
  static constexpr std::size_t max_declined = 64;

  std::uint64_t id = 0;             ///< what the client sees
  std::string upstream_request_id;  ///< raw JSON, as the upstream wrote it; empty: a question
  std::size_t place = 0;            ///< of a question, among those of its result
  std::string method;
  AskedFor asked_for = AskedFor::anything;
  std::string line;                  ///< with the client's id in it
  std::optional<UpstreamId> origin;  ///< the client request it belongs to; none: the session
  std::optional<ClientId> owner;  ///< whose request that is; none: of the session, or it has left
  LikelyCaller caller;            ///< of one of the session
  std::optional<User> user;       ///< of one that belongs to a request: only this user is asked
  std::optional<ClientId> asked;  ///< none: parked
  SteadyTime asked_since{};
  SteadyTime parked_until{};
  std::vector<ClientId> declined;  ///< have answered that they do not know such requests
  bool shown = false;              ///< to onlookers, who may answer while nobody is asked

  bool is_question() const { return upstream_request_id.empty(); }

  template <class A>
  void each_field(A& archive) {
    archive(id, upstream_request_id, place, method, asked_for, line, origin, owner, caller, user,
            asked, asked_since, parked_until, declined, shown);
  }
};

/// The requests of the upstream that are not answered yet. Pure. Bounded: `max_parked` requests and
/// `max_parked_bytes` may be parked, and `max_requests` and `max_bytes` are kept in all.
class ServerRequestTable {
 public:
  static constexpr std::size_t max_parked = 64;
  static constexpr std::size_t max_parked_bytes = 1u << 20;
  static constexpr std::size_t max_requests = 1024;
  static constexpr std::size_t max_bytes = 16u << 20;

  std::uint64_t next_id() { return ++last_id_; }
  std::uint64_t last_id() const { return last_id_; }
  void count_from(std::uint64_t id) { last_id_ = id; }

  bool has_room_for(std::size_t bytes) const {
    return requests_.size() < max_requests && bytes_ + bytes <= max_bytes;
  }
  bool can_park(std::size_t bytes) const;

  ServerRequest& add(ServerRequest request);
  void remove(const ServerRequest& request);

  ServerRequest* find(std::uint64_t id);
  /// By the id as whoever was asked was told it, raw JSON.
  ServerRequest* find_told(std::string_view raw_id);
  ServerRequest* find_by_upstream_id(std::string_view raw_id);

  /// Whether this client has had one of them, unanswered, since `then` or before.
  bool has_left_open(ClientId client, SteadyTime then) const;

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
