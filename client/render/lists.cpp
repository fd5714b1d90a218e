#include "render/lists.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "json/value.hpp"
#include "schema/schema.hpp"
#include "terminal/utf8.hpp"

namespace client {
namespace {

using json::Value;
using Kind = Value::Kind;

constexpr std::size_t text_indent = 4;
constexpr std::size_t widest_name = 24;  // of a parameter; longer ones push their line
constexpr std::size_t widest_type = 24;

struct Parameter {
  std::string name;  // with a star if it is required
  std::string type;  // with the default
  std::string description;
};

bool contains_text(const Value* list, std::string_view text) {
  return list != nullptr && std::any_of(list->items.begin(), list->items.end(),
                                        [text](const Value& item) { return item.text == text; });
}

std::vector<Parameter> read_parameters(const Value& tool) {
  std::vector<Parameter> parameters;
  const Value* schema = tool.find("inputSchema", Kind::object);
  const Value* properties = schema == nullptr ? nullptr : schema->find("properties", Kind::object);
  if (properties == nullptr) return parameters;
  const Value* required = schema->find("required", Kind::array);
  for (const json::Member& property : properties->members) {
    Parameter parameter;
    parameter.name = property.name + (contains_text(required, property.name) ? "*" : "");
    parameter.type = Schema(property.value, *schema).describe();
    if (const Value* preset = property.value.find("default")) {
      parameter.type += " = " + json::to_json(*preset);
    }
    parameter.description = property.value.string("description");
    if (parameter.description.empty()) parameter.description = property.value.string("title");
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

std::vector<Parameter> read_prompt_arguments(const Value& prompt) {
  std::vector<Parameter> parameters;
  const Value* arguments = prompt.find("arguments", Kind::array);
  if (arguments == nullptr) return parameters;
  for (const Value& argument : arguments->items) {
    const Value* required = argument.find("required", Kind::boolean);
    const std::string star = required != nullptr && required->truth ? "*" : "";
    parameters.push_back({std::string(argument.string("name")) + star, "",
                          std::string(argument.string("description"))});
  }
  return parameters;
}

std::string pad(std::string_view text, std::size_t columns) {
  const std::size_t width = display_width(text);
  return std::string(text) + std::string(columns > width ? columns - width : 0, ' ');
}

std::string indented(std::string_view text, std::size_t width) {
  if (text.empty()) return "";
  return std::string(text_indent, ' ') + wrap(text, text_indent, width) + "\n";
}

std::string render_parameters(const std::vector<Parameter>& parameters, std::size_t width) {
  std::size_t names = 0;
  std::size_t types = 0;
  for (const Parameter& parameter : parameters) {
    names = std::max(names, std::min(display_width(parameter.name), widest_name));
    types = std::max(types, std::min(display_width(parameter.type), widest_type));
  }
  std::string text;
  for (const Parameter& parameter : parameters) {
    std::string line(text_indent, ' ');
    line += pad(parameter.name, names);
    if (types > 0) line += "  " + pad(parameter.type, types);
    if (!parameter.description.empty()) {
      const std::size_t column = text_indent + names + (types > 0 ? types + 2 : 0) + 2;
      // Too much before it for the column, or too little room after it: on a line of its own.
      const bool fits = display_width(line) + 2 <= column && (width == 0 || column + 24 <= width);
      const std::size_t indent = fits ? column : text_indent + 4;
      line += fits ? "  " : "\n" + std::string(indent, ' ');
      line += wrap(parameter.description, indent, width);
    }
    while (line.back() == ' ') line.pop_back();
    text += line + "\n";
  }
  return text;
}

/// `name - Title`, without a title that says nothing new.
std::string heading(const Value& value) {
  const std::string_view name = value.string("name");
  std::string_view title = value.string("title");
  if (title.empty()) {
    const Value* annotations = value.find("annotations", Kind::object);
    if (annotations != nullptr) title = annotations->string("title");
  }
  if (title.empty() || title == name) return std::string(name);
  return fmt::format("{} - {}", name, title);
}

/// What the server promises of a tool, as far as it is worth knowing before a call.
std::string hints(const Value& tool) {
  const Value* annotations = tool.find("annotations", Kind::object);
  if (annotations == nullptr) return "";
  const auto is_set = [annotations](std::string_view name) {
    const Value* hint = annotations->find(name, Kind::boolean);
    return hint != nullptr && hint->truth;
  };
  if (is_set("readOnlyHint")) return " [read-only]";
  if (is_set("destructiveHint")) return " [destructive]";
  return "";
}

template <typename Render>
std::string render_each(const std::vector<std::string_view>& elements, Render render) {
  std::string text;
  for (const std::string_view element : elements) {
    if (!text.empty()) text.push_back('\n');
    const auto value = json::parse(element);
    text += value && value->is(Kind::object) ? render(*value) : std::string(element) + "\n";
  }
  return text;
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
    if (const auto type = resource.string("mimeType"); !type.empty()) {
      facts += fmt::format(" ({})", type);
    }
    if (resource.find("size", Kind::number) != nullptr) {
      facts += fmt::format(", {} bytes", resource.count("size"));
    }
    return std::string(uri) + "\n" + indented(facts, width) +
           indented(resource.string("description"), width);
  });
}

std::string render_prompts(const std::vector<std::string_view>& elements, std::size_t width) {
  return render_each(elements, [width](const Value& prompt) {
    return heading(prompt) + "\n" + indented(prompt.string("description"), width) +
           render_parameters(read_prompt_arguments(prompt), width);
  });
}

std::string render_skills(const std::vector<std::string_view>& elements, std::size_t width) {
  std::string text;
  for (const std::string_view raw : elements) {
    const auto skill = json::parse(raw);
    if (!skill || !skill->is(json::Value::Kind::object)) {
      text += std::string(raw) + "\n";
      continue;
    }
    const json::Value* const front = skill->find("frontmatter", json::Value::Kind::object);
    const json::Value& described = front == nullptr ? *skill : *front;
    const std::string_view name = described.string("name");
    const std::string_view uri = skill->string("uri");
    text += name.empty() ? std::string(uri) : fmt::format("{} ({})", name, uri);
    text += '\n';
    if (const auto about = described.string("description"); !about.empty())
      text += "    " + wrap(about, 4, width) + "\n";
  }
  return text;
}

}  // namespace client
