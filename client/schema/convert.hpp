#pragma once

#include <optional>
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

/// How it says that an argument may not be there, or has to be. `prefix` stands before the name.
std::string unknown_argument(std::string_view prefix, std::string_view name,
                             const std::vector<std::string_view>& known);
std::string missing_argument(std::string_view name);
/// Whether there is none.
bool fits(const json::Value& value, const Schema& schema);

/// The JSON of what was typed, by the schema of the argument: the first of its alternatives and
/// types that takes it. Numbers stay as they were written; a string takes anything; an array takes
/// a JSON array, or the one element that was typed. Where the schema says nothing it is a string.
/// Nothing if no alternative takes it. Pure.
std::optional<std::string> convert_text(std::string_view text, const Schema& schema);

/// The same of several: they are the elements of an array. `is_json` of an element: it stays as it
/// is.
struct TypedElement {
  std::string_view text;
  bool is_json = false;
};
std::optional<std::string> convert_elements(const std::vector<TypedElement>& elements,
                                            const Schema& schema);

}  // namespace client
