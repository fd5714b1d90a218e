#pragma once

#include <optional>
#include <string>

#include "base/ids.hpp"

namespace bridge {

class RequestsInFlight;
struct Client;
struct ServerRequest;

/// Whose request a question of the upstream may be about that says of none that it is: whoever had
/// requests in flight when it came about which something may be asked.
struct LikelyCaller {
  enum class Kind { nobody, one, several };
  friend constexpr Kind last_of(Kind) { return Kind::several; }

  Kind kind = Kind::nobody;
  std::optional<ClientId> client;  ///< of one; none: it has left

  template <class A>
  void each_field(A& archive) {
    archive(kind, client);
  }
};

LikelyCaller likely_caller(const RequestsInFlight& in_flight);

/// The notification that tells a client whose call it is asked about; empty if it is its own, or
/// nobody's in particular, or if it has not named such requests by `bridge/answers`.
std::string notice_of_caller(const ServerRequest& request, const Client& asked);

}  // namespace bridge
