#pragma once

#include <variant>

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

/// A JSON object that is put together from pieces: a whole object first, then single values at
/// paths into it, which take the place of what stands there. What is not touched stays byte for
/// byte. A value.
class ArgumentTree {
 public:
  /// `object` is one valid JSON object.
  void put_all(std::string_view object);
  /// `json` is one value. REQUIRES: the path is not empty.
  void put(const std::vector<std::string>& path, std::string json);

  bool has(std::string_view name) const;
  std::string json() const { return json_of(root_); }

 private:
  struct Member;
  struct Node {
    std::string json;  ///< of a value that nothing was put into; else empty
    std::vector<Member> members;
  };
  struct Member {
    std::string name;
    Node value;
  };
  static Node& member_of(Node& node, std::string_view name);
  static std::string json_of(const Node& node);

  Node root_;
};

}  // namespace client
