#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "harness/caller.hpp"

namespace bench {

/// Responses per second of a closed loop: each caller sends again as soon as it has its response.
double calls_per_second(std::vector<Caller>& callers, const std::string& request,
                        std::chrono::milliseconds duration);
/// The same with a request of its own for each caller.
double calls_per_second(std::vector<Caller>& callers, const std::vector<std::string>& requests,
                        std::chrono::milliseconds duration);

}  // namespace bench
