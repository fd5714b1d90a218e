#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "schema/schema.hpp"

namespace client {

/// One argument of a call as it was typed, with what stood in its file if it named one.
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

/// What is wrong with the arguments, a line for each problem.
struct WrongArguments {
  std::vector<std::string> problems;
};

/// The arguments of a call as JSON on one line, made by the tool's input schema: text is converted
/// (convert_text), `a.b=` goes into the object `a` if the schema knows one and no name `a.b`, what
/// is given several times is an array, and single values take the place of what an object says.
/// Nothing is made of arguments that are wrong by the schema. Pure.
std::variant<std::string, WrongArguments> arguments_by_schema(
    const std::vector<Argument>& arguments, const Schema& schema);

/// The same without a schema: text is a string, each name stands for itself, and may not repeat.
std::variant<std::string, WrongArguments> arguments_as_written(
    const std::vector<Argument>& arguments);

}  // namespace client
