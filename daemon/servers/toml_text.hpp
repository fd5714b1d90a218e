#pragma once

#include "servers/file_form.hpp"

namespace bridge {

/// TOML 1.0 as one JSON object; a date becomes null. The only user of toml++.
///
/// Bounded for hostile files: over 1 MiB, values nested deeper than 32, or a line with over
/// 128 dots (each part of a key nests) is a fault. Pure; throws nothing.
FileAsJson toml_as_json(std::string_view text);

}  // namespace bridge
