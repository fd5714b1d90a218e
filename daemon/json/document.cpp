#include "json/document.hpp"

#include <charconv>
#include <utility>

#include "json/json_scanner.hpp"
#include "text/decimal.hpp"
#include "text/utf8.hpp"

namespace json {
namespace {

using bridge::JsonScanner;
using bridge::Slice;

template <typename Integer>
bool take_integer(std::string_view digits, Value& value) {
  Integer number{};
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
  if (error != std::errc() || end != digits.end()) return false;
  value.number = static_cast<double>(number);
  // Every integer has only one JSON text, except for -0.
  value.text = digits == "-0" ? "0" : digits;
  return true;
}

bool take_number(std::string_view digits, Value& value) {
  if (take_integer<std::int64_t>(digits, value) || take_integer<std::uint64_t>(digits, value))
    return true;
  const auto number = bridge::to_double(digits);
  if (!number) return false;
  value.number = *number;
  value.text = bridge::shortest_text(*number);
  return true;
}

/// Decodes the text between the quotes of a string; most have no escape.
void decode(std::string_view raw, std::string& text) {
  if (raw.find('\\') == raw.npos) {
    text.assign(raw);
  } else {
    text = bridge::unescape(raw);
  }
}

/// Reads into a new value. Recursive, bounded by the scanner's depth. False: not JSON, or a number
/// that fits no 64 bit type.
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
  return take_number(scalar, value);
}

}  // namespace

std::string on_one_line(std::string_view valid_json) {
  std::string out(valid_json);
  bridge::make_single_line(out);
  return out;
}

std::optional<std::string_view> leading_value(std::string_view text) {
  JsonScanner scanner(text);
  scanner.skip_space();
  Slice value;
  if (!scanner.value(value)) return std::nullopt;
  return value.of(text);
}

std::optional<std::vector<RawMember>> members(std::string_view text) {
  std::vector<RawMember> found;
  found.reserve(4);
  const bool is_whole =
      bridge::each_member(text, [&](std::string_view key, std::string_view value) {
        found.push_back({{key.data() - 1, key.size() + 2}, value});
        return true;
      });
  return is_whole ? std::optional(std::move(found)) : std::nullopt;
}

std::optional<std::vector<std::string_view>> elements(std::string_view text) {
  std::vector<std::string_view> found;
  const bool is_whole = bridge::each_element(text, [&found](std::string_view value) {
    found.push_back(value);
    return true;
  });
  return is_whole ? std::optional(std::move(found)) : std::nullopt;
}

bool is_true(std::string_view object, std::string_view name) {
  return find_member(object, name) == std::optional<std::string_view>("true");
}

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

const std::vector<Value>& Value::array(std::string_view name) const {
  static const std::vector<Value> none;
  const Value* found = find(name, Kind::array);
  return found != nullptr ? found->items : none;
}

const Value& Value::object(std::string_view name) const {
  static const Value none;
  const Value* found = find(name, Kind::object);
  return found != nullptr ? *found : none;
}

std::string_view Value::string(std::string_view name) const {
  const Value* found = find(name, Kind::string);
  return found != nullptr ? std::string_view(found->text) : std::string_view();
}

bool Value::is_true(std::string_view name) const {
  const Value* found = find(name, Kind::boolean);
  return found != nullptr && found->truth;
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

Value parse_or_null(std::string_view text) { return parse(text).value_or(Value()); }

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
      return false;  // the rest is not read
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

std::string plain_text(const Value& value) {
  return value.is(Value::Kind::string) ? value.text : to_json(value);
}

std::string to_json(const Value& value) {
  switch (value.kind) {
    case Value::Kind::null: return "null";
    case Value::Kind::boolean: return value.truth ? "true" : "false";
    case Value::Kind::number: return value.text;
    case Value::Kind::string: return quote(value.text);
    case Value::Kind::array: {
      JsonArray array;
      for (const Value& item : value.items) array.add(RawJson{to_json(item)});
      return array.text();
    }
    case Value::Kind::object: break;
  }
  JsonObject object;
  for (const Member& member : value.members)
    object.add_any(member.name, RawJson{to_json(member.value)});
  return object.text();
}

Message parse_message(std::string_view line) {
  Message message;
  const auto all = members(line);
  if (!all) return message;
  bool has_method = false;
  for (const RawMember& member : *all) {
    const std::string_view raw = member.key.substr(1, member.key.size() - 2);
    const auto is = [raw](std::string_view name) { return bridge::key_is(raw, name); };
    if (is("id")) {
      message.id = member.value;
    } else if (is("method") && is_string(member.value)) {
      message.method = decode_string(member.value);
      has_method = true;
    } else if (is("params")) {
      message.params = member.value;
    } else if (is("result")) {
      message.result = member.value;
    } else if (is("error")) {
      message.error = member.value;
    }
  }
  if (has_method) {
    message.kind = message.id.empty() ? Message::Kind::notification : Message::Kind::request;
  } else if (message.result.empty() != message.error.empty()) {
    message.kind = Message::Kind::response;
  }
  return message;
}

}  // namespace json
