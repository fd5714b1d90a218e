#include "render/skills_list.hpp"

#include <fmt/format.h>

#include "json/value.hpp"
#include "terminal/wrap.hpp"

namespace client {

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
