#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// A decoded JSON value, for showing it to a person. What has to stay byte for byte is cut out of
/// the text by json/scan.hpp instead.
namespace client::json {

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

  /// The text of a string member, or "" if there is none.
  std::string_view string(std::string_view name) const;

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

/// The value that members of these names lead to, one within the other; nothing if it is not there
/// or cannot be parsed. What stands behind it is not looked at: for text that is JSON.
std::optional<Value> parse_at(std::string_view text, std::span<const std::string_view> path);

/// Compact JSON of the value.
std::string to_json(const Value& value);

}  // namespace client::json
