#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "json/value.hpp"

namespace client {

/// One value that an allowed answer can take, as JSON, with what a person is shown for it.
struct Choice {
  json::Value value;
  std::string title;
};

/// One property of an elicitation's requestedSchema.
struct Field {
  enum class Type { text, number, integer, boolean, list };

  std::string name;
  std::string title;
  std::string description;
  Type type = Type::text;
  bool required = false;
  std::vector<Choice> choices;  ///< empty = anything
  std::optional<json::Value> preset;
  std::optional<double> smallest;  ///< of a number; of a text its length; of a list its items
  std::optional<double> largest;
};

/// The fields in the order they stand.
std::vector<Field> read_fields(const json::Value& requested_schema);

/// What to show before the answer is typed, one or more lines and no line break at the end.
std::string describe_field(const Field& field);

/// An answer as JSON; nothing where an optional field is skipped.
using FieldAnswer = std::optional<std::string>;

/// Why an answer cannot be taken, for the person who typed it.
struct FieldRefusal {
  std::string why;
};

/// Makes JSON of what a person typed: an empty line is the default, or skips an optional field; a
/// choice may be given by its number or by its value; a list is separated by commas.
std::variant<FieldAnswer, FieldRefusal> read_answer(const Field& field, std::string_view typed);

}  // namespace client
