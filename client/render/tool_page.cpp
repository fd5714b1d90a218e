#include "render/tool_page.hpp"

#include <fmt/format.h>

#include <optional>
#include <tuple>

#include "json/value.hpp"
#include "render/lists.hpp"
#include "schema/signature.hpp"
#include "terminal/utf8.hpp"
#include "terminal/visible.hpp"

namespace client {
namespace {

using json::Value;
using Kind = Value::Kind;

constexpr int deepest_shown_object = 3;

const Value* object_in(const std::optional<Value>& tool, std::string_view name) {
  return tool ? tool->find(name, Kind::object) : nullptr;
}

/// The members of an object, those of objects in it further in; `path` as it is typed before them.
void add_members(std::string& text, const Schema& schema, const std::string& path,
                 std::size_t width, int depth = 0) {
  const std::size_t indent = 4 * static_cast<std::size_t>(depth + 1);
  for (const std::string_view name : schema.names()) {
    const Value& node = *schema.property(name);
    const Schema property = schema.at(node);
    std::string line = fmt::format("{}{}{}: {}", path, name, schema.requires_name(name) ? "*" : "",
                                   property.describe());
    if (const Value* preset = node.find("default")) line += " = " + json::to_json(*preset);
    std::string_view about = node.string("description");
    if (about.empty()) about = node.string("title");
    if (!about.empty()) line += fmt::format(" - {}", about);
    text += std::string(indent, ' ') + wrap(line, indent + 4, width) + "\n";
    const Value* const items = property.items();
    if (depth == deepest_shown_object) continue;
    if (items == nullptr) {
      add_members(text, property, fmt::format("{}{}.", path, name), width, depth + 1);
    } else {
      add_members(text, schema.at(*items), "", width, depth + 1);
    }
  }
}

std::string promises(const Value& tool) {
  const Value* const annotations = tool.find("annotations", Kind::object);
  if (annotations == nullptr) return {};
  std::string text;
  for (const auto& [name, yes, no] :
       {std::tuple("readOnlyHint", "only reads", "changes things"),
        std::tuple("destructiveHint", "may destroy", "destroys nothing"),
        std::tuple("idempotentHint", "once is like twice", "twice is not once"),
        std::tuple("openWorldHint", "reaches out to others", "stays by itself")}) {
    const Value* const hint = annotations->find(name, Kind::boolean);
    if (hint == nullptr) continue;
    text += fmt::format("{}{} ({}: {})", text.empty() ? "" : ", ", hint->truth ? yes : no, name,
                        hint->truth);
  }
  return text;
}

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

}  // namespace

std::string render_tool(std::string_view raw, std::size_t width, std::string_view program) {
  const auto tool = json::parse(raw);
  if (!tool || !tool->is(Kind::object)) return std::string(raw) + "\n";
  const std::string_view name = tool->string("name");
  const std::string_view title = tool->string("title");
  std::string text(name);
  if (!title.empty() && title != name) text += fmt::format(" - {}", title);
  text += '\n';
  if (const auto about = tool->string("description"); !about.empty())
    text += "\n    " + wrap(about, 4, width) + "\n";
  if (const Value* input = object_in(tool, "inputSchema")) {
    const Schema schema(*input);
    if (!schema.names().empty()) text += "\nArguments (* required)\n";
    add_members(text, schema, "", width);
    text +=
        fmt::format("\nUsage\n    {} call {}\n", program, signature(tool_operand(name), schema));
    text += fmt::format("\nFor example\n    {} call {}\n", program, example_call(name, schema));
  }
  if (const Value* output = object_in(tool, "outputSchema")) {
    text += "\nAnswers\n";
    add_members(text, Schema(*output), "", width);
  }
  if (const std::string said = promises(*tool); !said.empty())
    text += "\nThe server says that it\n    " + wrap(said, 4, width) + "\n";
  return text;
}

std::string render_signatures(const std::vector<std::string_view>& tools, std::size_t width) {
  std::string text;
  for (const std::string_view raw : tools) {
    const auto tool = json::parse(raw);
    if (!tool || !tool->is(Kind::object)) {
      text += std::string(raw) + "\n";
      continue;
    }
    const Value* const input = object_in(tool, "inputSchema");
    std::string line = input == nullptr ? std::string(tool->string("name"))
                                        : signature(tool->string("name"), Schema(*input));
    if (const auto about = tool->string("description"); !about.empty())
      line += "  - " + first_line(about);
    line = make_visible_line(line);
    text += width == 0 ? line : std::string(fit_columns(line, width));
    text += '\n';
  }
  return text;
}

std::string argument_words(std::string_view raw) {
  const auto tool = json::parse(raw);
  const Value* const input = object_in(tool, "inputSchema");
  if (input == nullptr) return {};
  const Schema schema(*input);
  std::string text;
  for (const std::string_view name : schema.names()) {
    const Schema property = schema.at(*schema.property(name));
    const auto types = property.types();
    auto values = property.values();
    if (const Value* items = property.items(); values.empty() && items != nullptr)
      values = schema.at(*items).values();
    if (types.size() == 1 && types.front() == "boolean") {
      text += make_visible_line(fmt::format("{}=true", name)) + "\n";
      text += make_visible_line(fmt::format("{}=false", name)) + "\n";
    } else if (values.empty()) {
      text += make_visible_line(fmt::format("{}=", name)) + "\n";
    }
    for (const Value* value : values) {
      text += make_visible_line(fmt::format(
                  "{}={}", name, value->is(Kind::string) ? value->text : json::to_json(*value))) +
              "\n";
    }
  }
  return text;
}

}  // namespace client
