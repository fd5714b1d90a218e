#include "json/value.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <cassert>

#include "json/text.hpp"

namespace client::json {
namespace {

Value make(Value::Kind kind) {
  Value value;
  value.kind = kind;
  return value;
}

template <typename Number>
Value number_value(Number number) {
  Value value = make(Value::Kind::number);
  value.number = static_cast<double>(number);
  value.text = fmt::format("{}", number);
  return value;
}

template <typename Type>
Type get(const simdjson::dom::element& element) {
  Type value{};
  const auto error = element.get(value);
  assert(error == simdjson::SUCCESS);  // the type was asked before
  static_cast<void>(error);
  return value;
}

/// Recursive, bounded by the 1024 levels that simdjson accepts.
Value copy(const simdjson::dom::element& element) {
  using Type = simdjson::dom::element_type;
  switch (element.type()) {
    case Type::INT64: return number_value(get<std::int64_t>(element));
    case Type::UINT64: return number_value(get<std::uint64_t>(element));
    case Type::DOUBLE: return number_value(get<double>(element));
    case Type::BOOL: {
      Value value = make(Value::Kind::boolean);
      value.truth = get<bool>(element);
      return value;
    }
    case Type::STRING: {
      Value value = make(Value::Kind::string);
      value.text = std::string(get<std::string_view>(element));
      return value;
    }
    case Type::ARRAY: {
      Value value = make(Value::Kind::array);
      const auto array = get<simdjson::dom::array>(element);
      for (const auto item : array) value.items.push_back(copy(item));
      return value;
    }
    case Type::OBJECT: {
      Value value = make(Value::Kind::object);
      const auto object = get<simdjson::dom::object>(element);
      for (const auto field : object) {
        value.members.push_back(Member{std::string(field.key), copy(field.value)});
      }
      return value;
    }
    case Type::NULL_VALUE: break;
  }
  return make(Value::Kind::null);
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
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (parser.parse(text.data(), text.size()).get(root) != simdjson::SUCCESS) return std::nullopt;
  return copy(root);
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
