#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schema/schema.hpp"

namespace client {

/// What is wrong with a value by its schema, a line for each: wrong types, values that are none of
/// the listed ones, names that are missing or not known. `name` is how the value is called, "" for
/// the arguments as a whole, whose names have to be listed or allowed; names further in are refused
/// only where they are forbidden. Pure.
std::vector<std::string> problems_of(const json::Value& value, const Schema& schema,
                                     std::string_view name = "");

/// Whether there is none.
bool fits(const json::Value& value, const Schema& schema);

}  // namespace client
