#pragma once

#include "base/ids.hpp"

namespace bridge {

struct Client;
struct PendingRequest;

/// Who goes on with the requests of a client that has left (--orphans keep). Implemented above the
/// router.
class OrphanKeeper {
 public:
  /// Takes the request over: its id, and its progress token if it has one, are changed to those
  /// that the new owner knows. Returns that one; null: there is no room.
  virtual Client* adopt(const Client& former, UpstreamId id, PendingRequest& request) = 0;

 protected:
  ~OrphanKeeper() = default;
};

}  // namespace bridge
