#pragma once

#include <string>

#include "json/value.hpp"

namespace client {

/// The type of a JSON Schema in a few characters: `string`, `integer|null`, `"a"|"b"`, `string[]`.
std::string describe_type(const json::Value& schema);

}  // namespace client
