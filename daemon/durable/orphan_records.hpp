#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/ids.hpp"
#include "durable/ring_records.hpp"
#include "router/user.hpp"

namespace bridge {

/// A request in flight of a connected client, as it is kept with --orphans keep: what its job is to
/// be if the daemon dies. A value.
struct KeptOrphan {
  User user;
  std::string method;
  pid_t pid = 0;
  std::string command;
  StreamPosition answer;  ///< where the stream of its answer stood
};

std::string orphan_record(UpstreamId id, const KeptOrphan& orphan);

/// Those that a log tells of, answered ones too. Pure.
class OrphanReplay {
 public:
  /// False if the payload is none of that kind.
  bool take(std::string_view payload);
  std::map<UpstreamId, KeptOrphan>& orphans() { return orphans_; }

 private:
  std::map<UpstreamId, KeptOrphan> orphans_;
};

}  // namespace bridge
