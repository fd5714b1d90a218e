#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace client {

// Figures for people.

/// "512 B", "12 KiB", "1.5 MiB".
std::string size_text(std::uint64_t bytes);
/// "900 us", "12.0 ms", "1.50 s".
std::string time_text(std::uint64_t microseconds);
/// "1 error", "2 errors".
std::string counted(std::uint64_t number, std::string_view thing);
/// "0.4 %", "41 %"; empty if `whole` is 0.
std::string percent_text(std::uint64_t part, std::uint64_t whole);

}  // namespace client
