#include "render/lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/contains.hpp"
#include "render/table.hpp"
#include "schema/signature.hpp"
#include "text/columns.hpp"
#include "text/visible_text.hpp"

namespace client {
namespace {

using json::Value;
using Kind = Value::Kind;

constexpr std::size_t text_indent = 4;
constexpr std::size_t widest_name = 24;  // of a parameter; longer ones widen only their own line
constexpr std::size_t widest_type = 24;

struct Parameter {
  std::string name;  // with a star if required
  std::string type;  // with the default
  std::string description;
};

/// The default of a property, and its description.
std::string preset_of(const Value& property) {
  const Value* const preset = property.find("default");
  return preset == nullptr ? "" : " = " + json::to_json(*preset);
}

std::string_view about(const Value& property) {
  const std::string_view description = property.string("description");
  return description.empty() ? property.string("title") : description;
}

std::vector<Parameter> read_parameters(const Value& tool) {
  std::vector<Parameter> parameters;
  const Value& input = tool.object("inputSchema");
  const auto required = Schema(input).required();
  for (const auto& [name, property] : input.object("properties").members) {
    parameters.push_back({name + (bridge::contains(required, name) ? "*" : ""),
                          Schema(property, input).describe() + preset_of(property),
                          std::string(about(property))});
  }
  return parameters;
}

std::string pad(std::string_view text, std::size_t columns) {
  const std::size_t width = bridge::display_width(text);
  return std::string(text) + std::string(columns > width ? columns - width : 0, ' ');
}

std::string indented(std::string_view text, std::size_t width) {
  if (text.empty()) return "";
  return std::string(text_indent, ' ') + bridge::wrap(text, text_indent, width) + "\n";
}

std::string render_parameters(const std::vector<Parameter>& parameters, std::size_t width) {
  std::size_t names = 0;
  std::size_t types = 0;
  for (const Parameter& parameter : parameters) {
    names = std::max(names, std::min(bridge::display_width(parameter.name), widest_name));
    types = std::max(types, std::min(bridge::display_width(parameter.type), widest_type));
  }
  std::string text;
  for (const Parameter& parameter : parameters) {
    std::string line(text_indent, ' ');
    line += pad(parameter.name, names);
    if (types > 0) line += "  " + pad(parameter.type, types);
    if (!parameter.description.empty()) {
      const std::size_t column = text_indent + names + (types > 0 ? types + 2 : 0) + 2;
      // Too long for the column, or too little room after it: on a line of its own.
      const bool fits =
          bridge::display_width(line) + 2 <= column && (width == 0 || column + 24 <= width);
      const std::size_t indent = fits ? column : text_indent + 4;
      line += fits ? "  " : "\n" + std::string(indent, ' ');
      line += bridge::wrap(parameter.description, indent, width);
    }
    while (line.back() == ' ') line.pop_back();
    text += line + "\n";
  }
  return text;
}

/// `name - Title`, without a title that repeats the name.
std::string heading(const Value& value) {
  const std::string_view name = value.string("name");
  std::string_view title = value.string("title");
  if (title.empty()) title = value.object("annotations").string("title");
  if (title.empty() || title == name) return std::string(name);
  return fmt::format("{} - {}", name, title);
}

/// The server's hints about a tool, as far as they matter before a call.
std::string hints(const Value& tool) {
  const Value& annotations = tool.object("annotations");
  if (annotations.is_true("readOnlyHint")) return " [read-only]";
  return annotations.is_true("destructiveHint") ? " [destructive]" : "";
}

/// An element that is not an object is shown as received.
template <typename Render>
std::string render_each(const std::vector<std::string_view>& elements, Render render,
                        std::string_view between = "\n") {
  std::string text;
  for (const std::string_view element : elements) {
    if (!text.empty()) text += between;
    const auto value = json::parse(element);
    text += value && value->is(Kind::object) ? render(*value) : std::string(element) + "\n";
  }
  return text;
}

constexpr int deepest_shown_object = 3;

/// Adds the members of an object, nested ones indented; `path` is the typed prefix of their names.
void add_members(std::string& text, const Schema& schema, const std::string& path,
                 std::size_t width, int depth = 0) {
  const std::size_t indent = 4 * static_cast<std::size_t>(depth + 1);
  for (const std::string_view name : schema.names()) {
    const Value& node = *schema.property(name);
    const Schema property = schema.at(node);
    std::string line = fmt::format("{}{}{}: {}", path, name, schema.requires_name(name) ? "*" : "",
                                   property.describe());
    line += preset_of(node);
    if (!about(node).empty()) line += fmt::format(" - {}", about(node));
    text += std::string(indent, ' ') + bridge::wrap(line, indent + 4, width) + "\n";
    const Value* const items = property.items();
    if (depth == deepest_shown_object) continue;
    const std::string inner = items == nullptr ? fmt::format("{}{}.", path, name) : "";
    add_members(text, items == nullptr ? property : schema.at(*items), inner, width, depth + 1);
  }
}

std::string promises(const Value& tool) {
  std::string text;
  for (const auto& [name, yes, no] :
       {std::tuple("readOnlyHint", "only reads", "changes things"),
        std::tuple("destructiveHint", "may destroy", "destroys nothing"),
        std::tuple("idempotentHint", "is safe to repeat", "is not safe to repeat"),
        std::tuple("openWorldHint", "uses other systems", "uses no other system")}) {
    const Value* const hint = tool.object("annotations").find(name, Kind::boolean);
    if (hint == nullptr) continue;
    text += fmt::format("{}{} ({}: {})", text.empty() ? "" : ", ", hint->truth ? yes : no, name,
                        hint->truth);
  }
  return text;
}

constexpr int deepest = 6;
constexpr std::size_t longest_type = 64 << 10;

std::string indent(int depth) { return std::string(2 * static_cast<std::size_t>(depth), ' '); }

/// A comment on a line of its own; empty without a text.
std::string comment(std::string_view text, int depth) {
  if (text.empty()) return {};
  std::string line = bridge::make_visible_line(text);
  for (std::size_t at = 0; (at = line.find("*/", at)) != line.npos;) line.replace(at, 2, "* /");
  return fmt::format("{}/** {} */\n", indent(depth), line);
}

/// `depth` counts objects, for the indentation, and `nesting` schemas.
std::string type_of(const Schema& schema, int depth, int nesting);

std::string object_type(const Schema& schema, int depth, int nesting) {
  const auto names = schema.names();
  const bool takes_others = schema.other_names() == Schema::OtherNames::allowed || names.empty();
  if (names.empty()) return takes_others ? "Record<string, unknown>" : "Record<string, never>";
  std::string text = "{\n";
  for (const std::string_view name : names) {
    const Value& node = *schema.property(name);
    text += comment(node.string("description"), depth + 1);
    text += fmt::format("{}{}{}: {};\n", indent(depth + 1), json::quote(name),
                        schema.requires_name(name) ? "" : "?",
                        type_of(schema.at(node), depth + 1, nesting + 1));
    if (text.size() > longest_type) return "unknown";
  }
  if (takes_others) text += fmt::format("{}[name: string]: unknown;\n", indent(depth + 1));
  return text + indent(depth) + "}";
}

std::string named_type(std::string_view type, const Schema& schema, int depth, int nesting) {
  if (type == "integer") return "number";
  if (type == "object") return object_type(schema, depth, nesting);
  if (type == "array") {
    const Value* const items = schema.items();
    std::string others = fmt::format(
        "Array<{}>", items == nullptr ? "unknown" : type_of(schema.at(*items), depth, nesting + 1));
    const auto first = schema.first_items();
    if (first.empty()) return others;
    std::string text;
    for (const Value* one : first) text += type_of(schema.at(*one), depth, nesting + 1) + ", ";
    return fmt::format("[{}...{}]", text, others);
  }
  const bool is_known = type == "string" || type == "number" || type == "boolean" || type == "null";
  return is_known ? std::string(type) : "unknown";
}

std::string type_of(const Schema& schema, int depth, int nesting) {
  if (nesting > deepest) return "unknown";
  std::string text;
  const auto add = [&text](const std::string& one) { text += (text.empty() ? "" : " | ") + one; };
  for (const Value* value : schema.values()) add(json::to_json(*value));
  if (!text.empty()) return text;
  for (const std::string_view type : schema.types()) add(named_type(type, schema, depth, nesting));
  if (text.empty()) {
    for (const Schema& one : schema.alternatives()) add(type_of(one, depth, nesting + 1));
  }
  return text.empty() || text.size() > longest_type ? "unknown" : text;
}

std::string type_in(const Value& tool, std::string_view member, std::string_view otherwise) {
  const Value* const schema = tool.find(member, Kind::object);
  return schema == nullptr ? std::string(otherwise) : type_of(Schema(*schema), 2, 0);
}

}  // namespace

std::string render_tools(const std::vector<std::string_view>& elements, std::size_t width) {
  return render_each(elements, [width](const Value& tool) {
    return heading(tool) + hints(tool) + "\n" + indented(tool.string("description"), width) +
           render_parameters(read_parameters(tool), width);
  });
}

std::string render_resources(const std::vector<std::string_view>& elements, std::size_t width) {
  return render_each(elements, [width](const Value& resource) {
    std::string_view uri = resource.string("uri");
    if (uri.empty()) uri = resource.string("uriTemplate");
    std::string facts = heading(resource);
    if (const auto type = resource.string("mimeType"); !type.empty())
      facts += fmt::format(" ({})", type);
    if (resource.find("size", Kind::number) != nullptr)
      facts += fmt::format(", {} bytes", resource.count("size"));
    return std::string(uri) + "\n" + indented(facts, width) +
           indented(resource.string("description"), width);
  });
}

std::string render_prompts(const std::vector<std::string_view>& elements, std::size_t width) {
  return render_each(elements, [width](const Value& prompt) {
    std::vector<Parameter> parameters;
    for (const Value& argument : prompt.array("arguments"))
      parameters.push_back(
          {fmt::format("{}{}", argument.string("name"), argument.is_true("required") ? "*" : ""),
           "", std::string(argument.string("description"))});
    return heading(prompt) + "\n" + indented(prompt.string("description"), width) +
           render_parameters(parameters, width);
  });
}

std::string render_skills(const std::vector<std::string_view>& elements, std::size_t width) {
  return render_each(
      elements,
      [width](const Value& skill) {
        const Value* const front = skill.find("frontmatter", Kind::object);
        const Value& described = front == nullptr ? skill : *front;
        const std::string_view name = described.string("name");
        const std::string_view uri = skill.string("uri");
        return (name.empty() ? std::string(uri) : fmt::format("{} ({})", name, uri)) + "\n" +
               indented(described.string("description"), width);
      },
      "");
}

std::string render_tool(std::string_view raw, std::size_t width, std::string_view program) {
  const Value tool = json::parse_or_null(raw);
  if (!tool.is(Kind::object)) return std::string(raw) + "\n";
  const std::string_view name = tool.string("name");
  std::string text = heading(tool) + "\n";
  if (const auto described = tool.string("description"); !described.empty())
    text += "\n" + indented(described, width);
  if (const Value* input = tool.find("inputSchema", Kind::object)) {
    const Schema schema(*input);
    if (!schema.names().empty()) text += "\nArguments (* required)\n";
    add_members(text, schema, "", width);
    text +=
        fmt::format("\nUsage\n    {} call {}\n", program, signature(tool_operand(name), schema));
    text += fmt::format("\nFor example\n    {} call {}\n", program, example_call(name, schema));
  }
  if (const Value* output = tool.find("outputSchema", Kind::object)) {
    text += "\nAnswers\n";
    add_members(text, Schema(*output), "", width);
  }
  if (const std::string said = promises(tool); !said.empty())
    text += "\nThe server says that it\n    " + bridge::wrap(said, 4, width) + "\n";
  return text;
}

std::string about_line(std::string line, std::string_view about, std::size_t width) {
  if (!about.empty()) line += fmt::format("  - {}", about.substr(0, about.find('\n')));
  line = bridge::make_visible_line(line);
  return (width == 0 ? line : in_columns(std::move(line), width)) + "\n";
}

std::string render_signatures(const std::vector<std::string_view>& tools, std::size_t width) {
  return render_each(
      tools,
      [width](const Value& tool) {
        const Value* const input = tool.find("inputSchema", Kind::object);
        const std::string name(tool.string("name"));
        return about_line(input == nullptr ? name : signature(name, Schema(*input)),
                          tool.string("description"), width);
      },
      "");
}

/// `int`, `str[]`; "" for a string, which most are.
std::string short_type(const Schema& schema) {
  const std::string type = schema.describe();
  for (const auto& [whole, in_short] :
       {std::pair("integer", "int"), std::pair("number", "num"), std::pair("boolean", "bool"),
        std::pair("object", "obj"), std::pair("string[]", "str[]"), std::pair("string", "")}) {
    if (type == whole) return in_short;
  }
  constexpr std::size_t longest = 12;
  return type.size() > longest ? "..." : type;
}

std::vector<StyledLine> render_tool_table(const std::vector<std::string_view>& tools,
                                          const Look& look, std::string_view program) {
  std::vector<std::vector<TableCell>> rows;
  for (const std::string_view raw : tools) {
    const Value tool = json::parse_or_null(raw);
    const Schema input(tool.object("inputSchema"));
    std::string text;
    for (const bool is_wanted : {true, false}) {
      for (const std::string_view name : input.names()) {
        if (input.requires_name(name) != is_wanted) continue;
        const std::string type = short_type(input.at(*input.property(name)));
        text += fmt::format("{}{}{}{} ", name, is_wanted ? "" : "?", type.empty() ? "" : ":", type);
      }
    }
    const std::string_view about = tool.string("description");
    text += fmt::format("{}{}", text.empty() || about.empty() ? "" : "- ",
                        about.substr(0, about.find('\n')));
    const std::string marks = hints(tool);
    rows.push_back({{bridge::make_visible_line(tool.string("name")), Tone::strong},
                    {marks.empty()                      ? ""
                     : marks.find("read") != marks.npos ? "r"
                                                        : "!",
                     marks.find("read") != marks.npos ? Tone::good : Tone::bad},
                    {bridge::make_visible_line(text)}});
  }
  auto lines = render_table("<TOOL||ARGUMENTS (?: optional) - WHAT IT DOES", std::move(rows), look);
  lines.emplace_back();
  lines.emplace_back().add(fmt::format("{} tools; r: only reads, !: may destroy", tools.size()));
  lines.emplace_back().add(
      fmt::format("one in full: {0} tools NAME; some: {0} grep WORD", program));
  return lines;
}

namespace {

/// `path`: before the names.
void add_words(std::string& text, const Schema& schema, const std::string& path, int depth = 0) {
  for (const std::string_view name : schema.names()) {
    const Schema property = schema.at(*schema.property(name));
    if (depth < deepest_shown_object && property.is_object() && !property.names().empty()) {
      add_words(text, property, fmt::format("{}{}.", path, name), depth + 1);
      continue;
    }
    const auto types = property.types();
    auto values = property.values();
    if (const Value* items = property.items(); values.empty() && items != nullptr)
      values = schema.at(*items).values();
    const auto add = [&](std::string_view value) {
      text += bridge::make_visible_line(fmt::format("{}{}={}", path, name, value)) + "\n";
    };
    if (types.size() == 1 && types.front() == "boolean") {
      add("true");
      add("false");
    } else if (values.empty()) {
      add("");
    }
    for (const Value* value : values) add(json::plain_text(*value));
  }
}

}  // namespace

std::string argument_words(std::string_view raw) {
  const Value tool = json::parse_or_null(raw);
  std::string text;
  add_words(text, Schema(tool.object("inputSchema")), "");
  return text;
}

std::string prompt_words(std::string_view raw) {
  const Value prompt = json::parse_or_null(raw);
  std::string text;
  for (const Value& argument : prompt.array("arguments"))
    text += bridge::make_visible_line(argument.string("name")) + "=\n";
  return text;
}

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
