#include "render/schema.hpp"

namespace client {
namespace {

using json::Value;
using Kind = Value::Kind;

constexpr int deepest = 4;  // schemas may nest without end; nobody reads that in a list

std::string describe(const Value& schema, int depth);

template <typename Describe>
std::string join(const std::vector<Value>& items, Describe describe_item) {
  std::string text;
  for (const Value& item : items) {
    if (!text.empty()) text.push_back('|');
    text += describe_item(item);
  }
  return text;
}

std::string describe_array(const Value& schema, int depth) {
  const Value* items = schema.find("items", Kind::object);
  if (items == nullptr) return "array";
  const std::string item = describe(*items, depth + 1);
  return item.find('|') == std::string::npos ? item + "[]" : "(" + item + ")[]";
}

std::string describe(const Value& schema, int depth) {
  if (!schema.is(Kind::object) || depth > deepest) return "any";
  if (const Value* values = schema.find("enum", Kind::array)) {
    return join(values->items, json::to_json);
  }
  if (const Value* value = schema.find("const")) return json::to_json(*value);
  if (const Value* types = schema.find("type", Kind::array)) {
    return join(types->items, [](const Value& type) { return type.text; });
  }
  const std::string_view type = schema.string("type");
  if (type == "array") return describe_array(schema, depth);
  if (!type.empty()) return std::string(type);
  for (const std::string_view member : {"anyOf", "oneOf"}) {
    if (const Value* options = schema.find(member, Kind::array)) {
      return join(options->items,
                  [depth](const Value& option) { return describe(option, depth + 1); });
    }
  }
  return schema.find("properties") != nullptr ? "object" : "any";
}

}  // namespace

std::string describe_type(const Value& schema) { return describe(schema, 0); }

}  // namespace client
