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

/// Finds values in JSON text without changing a byte of it, so that what a peer wrote can be
/// printed as it was written (numbers of any size, key order, duplicate keys), and reads it into
/// values to be shown to a person. By the scanner: what is nested deeper than 1024 is refused.
/// Views point into the text that was given. Pure.
namespace json {

using bridge::JsonArray;
using bridge::JsonObject;
using bridge::quote;
using bridge::RawJson;

/// JSON text on one line: raw line breaks can only be white space in it, and become spaces.
std::string on_one_line(std::string_view valid_json);

/// One member of an object. `key` has its quotes and escapes, `value` has no space around it.
struct RawMember {
  std::string_view key;
  std::string_view value;
};

/// Is this exactly one JSON value (RFC 8259 grammar), with nothing but white space around it?
/// Whether the bytes are UTF-8 is not looked at.
bool is_valid(std::string_view text);

/// The value at the front of `text` without the space before it; nothing if there is none.
std::optional<std::string_view> leading_value(std::string_view text);

/// The members in the order they stand; nothing if `text` is not one valid object.
std::optional<std::vector<RawMember>> members(std::string_view text);

/// The elements in order; nothing if `text` is not one valid array.
std::optional<std::vector<std::string_view>> elements(std::string_view text);

/// The value of the first member called `name` (names are compared unescaped).
std::optional<std::string_view> member(std::string_view object, std::string_view name);

/// The text of the first member called `name`, if that is a string; else "".
std::string string_member(std::string_view object, std::string_view name);

/// Whether the first member called `name` is true.
bool is_true(std::string_view object, std::string_view name);
bool is_object(std::string_view valid_json);
bool is_array(std::string_view valid_json);
bool is_string(std::string_view valid_json);

/// The text of a JSON string that was found by the functions above, as UTF-8. A lone surrogate
/// becomes U+FFFD.
std::string decode_string(std::string_view quoted);

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

  /// The first member of that name; null if there is none or this is no object.
  const Value* find(std::string_view name) const;

  /// Like find, but null unless it is of that kind too.
  const Value* find(std::string_view name, Kind wanted) const;

  /// The elements of a member that is an array; none of any other.
  const std::vector<Value>& array(std::string_view name) const;
  /// A member that is an object; one without members if it is none.
  const Value& object(std::string_view name) const;

  /// The text of a string member, or "" if there is none.
  std::string_view string(std::string_view name) const;

  /// Whether the member is the boolean true.
  bool is_true(std::string_view name) const;
  /// A number member as a count: not below 0, 0 if there is none.
  std::uint64_t count(std::string_view name) const;
};

struct Member {
  std::string name;
  Value value;
};

/// Nothing if the text is not JSON, not UTF-8, nested beyond 1024, or has a number that fits no 64
/// bit type (1e400). The caller then shows the text as it is.
std::optional<Value> parse(std::string_view text);

/// The same; null where there is nothing.
Value parse_or_null(std::string_view text);

/// The value that members of these names lead to, one within the other; nothing if it is not there
/// or cannot be parsed. What stands behind it is not looked at: for text that is JSON.
std::optional<Value> parse_at(std::string_view text, std::span<const std::string_view> path);

/// The text of a string, of any other value its JSON.
std::string plain_text(const Value& value);

/// Compact JSON of the value.
std::string to_json(const Value& value);

/// One JSON-RPC message, taken apart. Views point into the line that was given and are empty for
/// what is not there; they keep the bytes of the line.
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
