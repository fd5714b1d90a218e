#include "json/value.hpp"

#include <fmt/format.h>

#include <charconv>
#include <type_traits>

#include "json/text.hpp"
#include "text/json_scanner.hpp"
#include "text/json_text.hpp"
#include "text/utf8.hpp"

namespace client::json {
namespace {

using bridge::JsonScanner;
using bridge::Slice;

template <typename Number>
bool take_number(std::string_view digits, Value& value) {
  Number number{};
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
  if (error != std::errc() || end != digits.end()) return false;
  value.number = static_cast<double>(number);
  // What is a whole number in JSON is written in one way, but for -0.
  const bool is_written_so = std::is_integral_v<Number> && digits != "-0";
  value.text = is_written_so ? std::string(digits) : fmt::format("{}", number);
  return true;
}

/// What stands between the quotes of a string; most have no escape.
void decode(std::string_view raw, std::string& text) {
  if (raw.find('\\') == raw.npos) {
    text.assign(raw);
  } else {
    text = bridge::unescape(raw);
  }
}

/// Into a new value. Recursive, bounded by the levels that the scanner accepts. False: no JSON, or
/// a number that fits no 64 bit type.
bool read(JsonScanner& scanner, std::string_view text, Value& value) {
  switch (scanner.peek()) {
    case '{':
      value.kind = Value::Kind::object;
      return scanner.object([&](Slice key) {
        if (value.members.empty()) value.members.reserve(4);
        Member& member = value.members.emplace_back();
        decode(key.of(text), member.name);
        return read(scanner, text, member.value);
      });
    case '[':
      value.kind = Value::Kind::array;
      return scanner.array([&] { return read(scanner, text, value.items.emplace_back()); });
    default: break;
  }
  Slice raw;
  if (!scanner.value(raw)) return false;
  const std::string_view scalar = raw.of(text);
  switch (scalar.front()) {
    case '"':
      value.kind = Value::Kind::string;
      decode(scalar.substr(1, scalar.size() - 2), value.text);
      return true;
    case 't':
    case 'f':
      value.kind = Value::Kind::boolean;
      value.truth = scalar.front() == 't';
      return true;
    case 'n': value.kind = Value::Kind::null; return true;
    default: value.kind = Value::Kind::number;
  }
  return take_number<std::int64_t>(scalar, value) || take_number<std::uint64_t>(scalar, value) ||
         take_number<double>(scalar, value);
}

}  // namespace

const Value* Value::find(std::string_view name) const {
  for (const Member& member : members) {
    if (member.name == name) return &member.value;
  }
  return nullptr;
}

const Value* Value::find(std::string_view name, Kind wanted) const {
  const Value* found = find(name);
  return found != nullptr && found->is(wanted) ? found : nullptr;
}

std::string_view Value::string(std::string_view name) const {
  const Value* found = find(name, Kind::string);
  return found != nullptr ? std::string_view(found->text) : std::string_view();
}

std::uint64_t Value::count(std::string_view name) const {
  const Value* found = find(name, Kind::number);
  if (found == nullptr || !(found->number > 0)) return 0;
  return found->number >= 1.8e19 ? UINT64_MAX : static_cast<std::uint64_t>(found->number);
}

std::optional<Value> parse(std::string_view text) {
  if (!bridge::is_utf8(text)) return std::nullopt;
  JsonScanner scanner(text);
  scanner.skip_space();
  Value value;
  if (!read(scanner, text, value)) return std::nullopt;
  scanner.skip_space();
  if (!scanner.at_end()) return std::nullopt;
  return value;
}

std::optional<Value> parse_at(std::string_view text, std::span<const std::string_view> path) {
  JsonScanner scanner(text);
  std::optional<Value> found;
  const auto descend = [&](auto& self, std::size_t level) -> bool {
    scanner.skip_space();
    if (level == path.size()) {
      const std::size_t begin = scanner.position();
      Value value;
      const bool is_read = read(scanner, text, value) &&
                           bridge::is_utf8(text.substr(begin, scanner.position() - begin));
      if (is_read) found = std::move(value);
      return false;  // what follows is not looked at
    }
    return scanner.object([&](Slice key) {
      if (bridge::key_is(key.of(text), path[level])) return self(self, level + 1);
      Slice other;
      return scanner.value(other);
    });
  };
  descend(descend, 0);
  return found;
}

std::string to_json(const Value& value) {
  switch (value.kind) {
    case Value::Kind::null: return "null";
    case Value::Kind::boolean: return value.truth ? "true" : "false";
    case Value::Kind::number: return value.text;
    case Value::Kind::string: return quote(value.text);
    case Value::Kind::array: {
      std::string out = "[";
      for (const Value& item : value.items) {
        if (out.size() > 1) out.push_back(',');
        out += to_json(item);
      }
      return out + "]";
    }
    case Value::Kind::object: break;
  }
  std::string out = "{";
  for (const Member& member : value.members) {
    if (out.size() > 1) out.push_back(',');
    out += quote(member.name) + ":" + to_json(member.value);
  }
  return out + "}";
}

}  // namespace client::json
