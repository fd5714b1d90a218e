#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "json/json_object.hpp"
#include "json/json_text.hpp"

/// Finds values in JSON text without changing it, so that a peer's text can be
/// printed as it was written (numbers of any size, key order, duplicate keys), and reads it into
/// values for display. Nesting deeper than 1024 is rejected, by the scanner.
/// Views point into the given text. Pure.
namespace json {

using bridge::decode_string;
using bridge::find_member;
using bridge::is_array;
using bridge::is_json;
using bridge::is_object;
using bridge::is_string;
using bridge::JsonArray;
using bridge::JsonObject;
using bridge::quote;
using bridge::RawJson;
using bridge::string_member;

/// JSON text on one line: raw line breaks can only be white space, and become spaces.
std::string on_one_line(std::string_view valid_json);

/// One member of an object. `key` has its quotes and escapes, `value` has no space around it.
struct RawMember {
  std::string_view key;
  std::string_view value;
};

/// The value at the front of `text` without the space before it; nullopt if absent.
std::optional<std::string_view> leading_value(std::string_view text);

/// The members in order; nullopt if `text` is not one valid object.
std::optional<std::vector<RawMember>> members(std::string_view text);

/// The elements in order; nullopt if `text` is not one valid array.
std::optional<std::vector<std::string_view>> elements(std::string_view text);

/// Whether the first member called `name` is true.
bool is_true(std::string_view object, std::string_view name);

struct Member;

struct Value {
  enum class Kind { null, boolean, number, string, array, object };

  Kind kind = Kind::null;
  bool truth = false;           ///< of a boolean
  double number = 0;            ///< of a number; large integers lose digits here, not in `text`
  std::string text;             ///< of a string, decoded; of a number, as digits
  std::vector<Value> items;     ///< of an array
  std::vector<Member> members;  ///< of an object, in order

  bool is(Kind wanted) const { return kind == wanted; }

  /// The first member of that name; null if absent or if this is not an object.
  const Value* find(std::string_view name) const;

  /// Like find(), but null if it is of another kind.
  const Value* find(std::string_view name, Kind wanted) const;

  /// The elements of a member that is an array; empty for any other.
  const std::vector<Value>& array(std::string_view name) const;
  /// A member that is an object; an object without members for any other.
  const Value& object(std::string_view name) const;

  /// The text of a string member, or "" if absent.
  std::string_view string(std::string_view name) const;

  /// Whether the member is the boolean true.
  bool is_true(std::string_view name) const;
  /// A number member as a count: not below 0, 0 if absent.
  std::uint64_t count(std::string_view name) const;
};

struct Member {
  std::string name;
  Value value;
};

/// nullopt if the text is not JSON, not UTF-8, nested beyond 1024, or has a number that fits no 64
/// bit type (1e400). The caller then shows the original text.
std::optional<Value> parse(std::string_view text);

/// The same; a null value instead of nullopt.
Value parse_or_null(std::string_view text);

/// The value at a path of member names; nullopt if it is absent or cannot be parsed. The text after
/// it is not read. REQUIRES: `text` is JSON.
std::optional<Value> parse_at(std::string_view text, std::span<const std::string_view> path);

/// The text of a string; the JSON of any other value.
std::string plain_text(const Value& value);

/// Compact JSON of the value.
std::string to_json(const Value& value);

/// The parts of one JSON-RPC message. Views point into the given line and are empty for absent
/// parts; they keep the bytes of the line.
struct Message {
  enum class Kind { request, notification, response, invalid };

  Kind kind = Kind::invalid;
  std::string method;
  std::string_view id;
  std::string_view params;
  std::string_view result;
  std::string_view error;
};

Message parse_message(std::string_view line);

}  // namespace json
