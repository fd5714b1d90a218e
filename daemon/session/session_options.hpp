#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace bridge {

struct SessionOptions {
  std::optional<std::string> client_capabilities;  ///< given: the bridge opens the session itself
  std::chrono::milliseconds connect_wait{10000};
  std::chrono::milliseconds keepalive{60000};  ///< 0: off
};

}  // namespace bridge
