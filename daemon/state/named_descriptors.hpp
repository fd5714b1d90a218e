#pragma once

#include <string>
#include <vector>

namespace bridge {

/// The open descriptors above stderr that an argument names by its end, `/proc/self/fd/N`, in their
/// order and each once: whoever started the program has handed it files that way, and the next
/// image reads them again.
std::vector<int> named_descriptors(const std::vector<std::string>& arguments);

}  // namespace bridge
