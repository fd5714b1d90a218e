#pragma once

#include <utility>
#include <vector>

#include "upstream/upstream.hpp"

namespace bridge {

/// Ends of messages that must not be told from within a call of Upstream: told later in the turn.
/// Pure; a part of a transport. Memory: what one turn refuses.
class UntoldEndings {
 public:
  void add(UpstreamId id, Ending ending) { endings_.emplace_back(id, std::move(ending)); }
  void forget(UpstreamId id) {
    std::erase_if(endings_, [id](const auto& one) { return one.first == id; });
  }
  void clear() { endings_.clear(); }

  void tell(UpstreamEvents& events) {
    for (auto& [id, ending] : std::exchange(endings_, {}))
      events.upstream_ended(id, std::move(ending));
  }

 private:
  std::vector<std::pair<UpstreamId, Ending>> endings_;
};

}  // namespace bridge
