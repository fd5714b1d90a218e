#include "render/typescript.hpp"

#include <fmt/format.h>

#include "json/text.hpp"
#include "json/value.hpp"
#include "schema/schema.hpp"
#include "terminal/visible.hpp"

namespace client {
namespace {

using json::Value;
using Kind = Value::Kind;

constexpr int deepest = 6;
constexpr std::size_t longest_type = 64 << 10;

std::string indent(int depth) { return std::string(2 * static_cast<std::size_t>(depth), ' '); }

/// A comment on a line of its own; nothing if there is nothing to say.
std::string comment(std::string_view text, int depth) {
  if (text.empty()) return {};
  std::string line = make_visible_line(text);
  for (std::size_t at = 0; (at = line.find("*/", at)) != line.npos;) line.replace(at, 2, "* /");
  return fmt::format("{}/** {} */\n", indent(depth), line);
}

/// Where a type stands: `depth` of objects, by which it is indented, and of schemas.
struct Place {
  int depth;
  int nesting = 0;

  Place inner_object() const { return {depth + 1, nesting + 1}; }
  Place inner() const { return {depth, nesting + 1}; }
};

std::string type_of(const Schema& schema, Place place);

std::string object_type(const Schema& schema, Place place) {
  const int depth = place.depth;
  const auto names = schema.names();
  const bool takes_others = schema.other_names() == Schema::OtherNames::allowed || names.empty();
  if (names.empty()) return takes_others ? "Record<string, unknown>" : "Record<string, never>";
  std::string text = "{\n";
  for (const std::string_view name : names) {
    const Value& node = *schema.property(name);
    text += comment(node.string("description"), depth + 1);
    text += fmt::format("{}{}{}: {};\n", indent(depth + 1), json::quote(name),
                        schema.requires_name(name) ? "" : "?",
                        type_of(schema.at(node), place.inner_object()));
    if (text.size() > longest_type) return "unknown";
  }
  if (takes_others) text += fmt::format("{}[name: string]: unknown;\n", indent(depth + 1));
  return text + indent(depth) + "}";
}

std::string named_type(std::string_view type, const Schema& schema, Place place) {
  if (type == "integer") return "number";
  if (type == "object") return object_type(schema, place);
  if (type == "array") {
    const Value* const items = schema.items();
    std::string others = fmt::format(
        "Array<{}>", items == nullptr ? "unknown" : type_of(schema.at(*items), place.inner()));
    const auto first = schema.first_items();
    if (first.empty()) return others;
    std::string text;
    for (const Value* one : first) text += type_of(schema.at(*one), place.inner()) + ", ";
    return fmt::format("[{}...{}]", text, others);
  }
  const bool is_known = type == "string" || type == "number" || type == "boolean" || type == "null";
  return is_known ? std::string(type) : "unknown";
}

std::string type_of(const Schema& schema, Place place) {
  if (place.nesting > deepest) return "unknown";
  std::string text;
  const auto add = [&text](const std::string& one) { text += (text.empty() ? "" : " | ") + one; };
  for (const Value* value : schema.values()) add(json::to_json(*value));
  if (!text.empty()) return text;
  for (const std::string_view type : schema.types()) add(named_type(type, schema, place));
  if (text.empty()) {
    for (const Schema& one : schema.alternatives()) add(type_of(one, place.inner()));
  }
  return text.empty() || text.size() > longest_type ? "unknown" : text;
}

std::string type_in(const Value& tool, std::string_view member, std::string_view otherwise) {
  const Value* const schema = tool.find(member, Kind::object);
  return schema == nullptr ? std::string(otherwise) : type_of(Schema(*schema), {2});
}

}  // namespace

std::string render_typescript(const std::vector<std::string_view>& tools) {
  std::string text = "export interface Tools {\n";
  for (const std::string_view raw : tools) {
    const auto tool = json::parse(raw);
    if (!tool || !tool->is(Kind::object) || tool->string("name").empty()) continue;
    text += comment(tool->string("description"), 1);
    text += fmt::format("  {}: {{\n    arguments: {};\n    result: {};\n  }};\n",
                        json::quote(tool->string("name")),
                        type_in(*tool, "inputSchema", "Record<string, unknown>"),
                        type_in(*tool, "outputSchema", "unknown"));
  }
  return text + "}\n";
}

}  // namespace client
