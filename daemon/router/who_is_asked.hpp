#pragma once

#include <optional>
#include <vector>

#include "base/ids.hpp"

namespace bridge {

/// One client that declared that it answers a request of the upstream, and can be reached.
struct Askable {
  ClientId client{};
  bool is_own = false;     ///< the upstream asks about a request of this client
  bool is_busy = false;    ///< it has requests in flight
  bool is_silent = false;  ///< it has left an earlier question open for too long
  bool is_job = false;     ///< nobody is connected: it answers when somebody collects
};

/// Who is asked, of those who can be, in the order of their connecting: whose request it is about;
/// else the only one with requests in flight; else the one connected longest. A job only while
/// nobody connected has requests in flight, unless it is about one of its own. Somebody silent only
/// if all are. Nobody if there are none. Pure.
std::optional<ClientId> who_is_asked(const std::vector<Askable>& able);

}  // namespace bridge
