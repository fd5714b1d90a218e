#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "protocol/reply.hpp"
#include "service/latency.hpp"

namespace bridge {

/// What the router counts, for the status and the metrics.
struct Statistics {
  std::uint64_t requests = 0;            ///< of clients, without `bridge/*`
  std::uint64_t errors = 0;              ///< answered with an error, the upstream's or the bridge's
  std::uint64_t invalid_frames = 0;      ///< from clients
  std::uint64_t malformed_messages = 0;  ///< from upstream
  std::uint64_t unknown_answers = 0;     ///< answers to nothing, from either side
  std::uint64_t dropped_notifications = 0;

  LatencyWindow total;
  LatencyWindow added;  ///< by the bridge itself

  struct LastError {
    std::chrono::system_clock::time_point at;
    ErrorKind kind;
    std::string message;
  };
  std::optional<LastError> last_error;

  void failed(ErrorKind kind, std::string message) {
    last_error = LastError{std::chrono::system_clock::now(), kind, std::move(message)};
  }
};

}  // namespace bridge
