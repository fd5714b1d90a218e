#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "harness/caller.hpp"
#include "harness/peers.hpp"

namespace bench {

/// Requests a daemon's status over a separate connection, which takes no notifications.
class StatusProbe {
 public:
  explicit StatusProbe(const Relay& daemon);

  /// bridge/status as received; valid until the next call.
  std::string_view ask();
  /// The first number with that name.
  std::size_t number(std::string_view name);
  std::size_t clients();

 private:
  Caller caller_;
};

/// Throws if it does not become true soon.
void wait_until(const char* what, const std::function<bool()>& condition);

}  // namespace bench
