#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"

namespace bridge {

/// A file in memory only, which nobody can change any more (memfd_create(2), fcntl(2) "File
/// Sealing"). None, and errno, if it cannot be made. Closed by exec, unless its owner says
/// otherwise.
Descriptor make_memory_file(std::string_view bytes);

/// What stands in one; none if the descriptor is no such file.
std::optional<std::string> read_memory_file(int descriptor);

}  // namespace bridge
