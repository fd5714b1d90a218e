#pragma once

#include <string>
#include <variant>

#include "base/descriptor.hpp"

namespace bridge {

/// The path by which this process was started, links kept; `name` is its first argument. If that
/// does not lead to this program, the kernel's word. REQUIRES: called at the start, before another
/// file can have taken the place.
std::string program_as_started(const std::string& name);

/// Opens the program at `path` to be checked and executed, or says why it is not: it must be a
/// file of root's or of our own user that only they can write, in folders of which the same holds.
std::variant<Descriptor, std::string> open_program(const std::string& path);

}  // namespace bridge
