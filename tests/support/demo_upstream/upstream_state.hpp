#pragma once

#include <chrono>
#include <functional>
#include <utility>

#include "endpoint.hpp"
#include "upstream.hpp"

namespace demo {

struct UpstreamState {
  std::size_t sessions = 0;
  std::size_t streams = 0;  ///< GET streams whose client is still there
  std::size_t active_calls = 0;
};

/// The state as soon as it is as wanted; `first` is false after a timeout.
std::pair<bool, UpstreamState> wait_for_state(
    Upstream& upstream, Endpoint& endpoint, std::chrono::milliseconds limit,
    const std::function<bool(const UpstreamState&)>& wanted);

}  // namespace demo
