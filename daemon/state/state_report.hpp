#pragma once

#include <cstdint>
#include <string>

namespace bridge {

/// What is shown of the state: in the status and the metrics.
struct StateReport {
  bool durable = false;        ///< what happens now is kept
  std::uint64_t bytes = 0;     ///< of the log
  std::uint64_t failures = 0;  ///< so often it could not be written any more
  std::uint64_t rewrites = 0;  ///< so often it was written anew
  std::string error{};         ///< why it is not durable; empty: it is
};

}  // namespace bridge
