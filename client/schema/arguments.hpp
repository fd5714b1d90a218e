#pragma once

#include <variant>

#include "schema/schema.hpp"

namespace client {

/// What is wrong with a value by its schema, one line each: wrong types, values that are not
/// listed, missing or unknown names. `name` is what the value is called, "" for the arguments as a
/// whole, whose names must be listed or allowed; nested names are refused only where they are
/// forbidden. Pure.
std::vector<std::string> problems_of(const json::Value& value, const Schema& schema,
                                     std::string_view name = "");

/// Whether there are no problems.
bool fits(const json::Value& value, const Schema& schema);

/// Converts typed text to JSON, by the argument's schema: the first of its alternatives and types
/// that accepts it. Numbers stay as written; a string accepts anything; an array accepts a JSON
/// array, or a single typed element. Without a type in the schema it is a string. nullopt if no
/// alternative accepts it. Pure.
std::optional<std::string> convert_text(std::string_view text, const Schema& schema, int depth = 0);

/// The same for several texts, the elements of an array. `is_json` of an element: it is used
/// unchanged.
struct TypedElement {
  std::string_view text;
  bool is_json = false;
};
std::optional<std::string> convert_elements(const std::vector<TypedElement>& elements,
                                            const Schema& schema, int depth = 0);

/// One argument of a call as typed, with the content of its file if it named one.
struct Argument {
  enum class Form {
    text,    ///< key=…
    string,  ///< key:@FILE: a string whatever the schema says
    json,    ///< key:=… or key:=@FILE: one valid value
    object,  ///< '{…}' or -: one valid object; the key is empty
  };
  Form form = Form::text;
  std::string key;
  std::string value;
};

/// The errors in the arguments, one line each.
struct WrongArguments {
  std::vector<std::string> problems;
};

/// The arguments of a call as JSON on one line, made by the tool's input schema: text is converted
/// (convert_text), `a.b=` goes into the object `a` if the schema has such an object and no name
/// `a.b`, `a.0=` into the list `a`, repeated names become an array, and single values replace
/// members of an object argument.
/// Arguments that violate the schema produce only errors. Pure.
std::variant<std::string, WrongArguments> arguments_by_schema(
    const std::vector<Argument>& arguments, const Schema& schema);

/// The same without a schema: text is a string, names are literal and may not repeat.
std::variant<std::string, WrongArguments> arguments_as_written(
    const std::vector<Argument>& arguments);

}  // namespace client
