#pragma once

#include <chrono>
#include <string>

namespace client {

using Milliseconds = std::chrono::milliseconds;

/// For people: "850 ms", "12 s", "3 m 20 s", "2 h 5 m", "3 d 4 h".
std::string format_duration(Milliseconds duration);

}  // namespace client
