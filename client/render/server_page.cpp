#include "render/server_page.hpp"

#include <fmt/format.h>

#include "json/scan.hpp"
#include "json/text.hpp"
#include "json/value.hpp"
#include "terminal/wrap.hpp"

namespace client {
namespace {

std::string text_in(std::string_view object, std::string_view name) {
  const auto found = json::member(object, name);
  return found && json::is_string(*found) ? json::decode_string(*found) : std::string();
}

std::string_view object_named(std::string_view object, std::string_view name) {
  const auto found = json::member(object, name);
  return found && json::is_object(*found) ? *found : std::string_view("{}");
}

}  // namespace

ServerPage read_server(std::string_view discovered, std::string_view status) {
  const std::string_view upstream = object_named(status, "upstream");
  std::string_view info = object_named(upstream, "serverInfo");
  // MCP 2026-07-28, "Discovery": in the result or in its _meta.
  if (info == "{}") info = object_named(discovered, "serverInfo");
  if (info == "{}")
    info = object_named(object_named(discovered, "_meta"), "io.modelcontextprotocol/serverInfo");
  ServerPage page;
  page.name = text_in(info, "name");
  page.title = text_in(info, "title");
  page.version = text_in(info, "version");
  page.era = text_in(upstream, "era");
  page.protocol_version = text_in(upstream, "protocolVersion");
  // The answer to server/discover leaves out what is not translated, as the tasks of a legacy
  // server.
  std::string_view capabilities = object_named(upstream, "capabilities");
  if (capabilities == "{}") capabilities = object_named(discovered, "capabilities");
  page.capabilities = json::on_one_line(capabilities);
  page.instructions = text_in(discovered, "instructions");
  return page;
}

std::string server_json(const ServerPage& page) {
  std::string text = fmt::format("{{\"name\":{}", json::quote(page.name));
  if (!page.title.empty()) text += ",\"title\":" + json::quote(page.title);
  text += fmt::format(",\"version\":{},\"era\":{},\"protocolVersion\":{},\"capabilities\":{}",
                      json::quote(page.version), json::quote(page.era),
                      json::quote(page.protocol_version), page.capabilities);
  if (!page.instructions.empty()) text += ",\"instructions\":" + json::quote(page.instructions);
  return text + "}\n";
}

std::string capability_names(std::string_view capabilities) {
  const auto value = json::parse(capabilities);
  if (!value) return {};
  std::string text;
  for (const json::Member& one : value->members) {
    std::string more;
    for (const json::Member& member : one.value.members) {
      const bool is_off = member.value.is(json::Value::Kind::boolean) && !member.value.truth;
      if (!is_off) more += (more.empty() ? "" : ", ") + member.name;
    }
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", one.name,
                        more.empty() ? "" : fmt::format(" ({})", more));
  }
  return text;
}

std::string render_server(const ServerPage& page, std::size_t width) {
  std::string text;
  const auto add = [&text, width](std::string_view what, const std::string& value) {
    constexpr std::size_t column = 14;
    if (!value.empty()) text += fmt::format("{:<14}{}\n", what, wrap(value, column, width));
  };
  add("server", page.title.empty() || page.title == page.name
                    ? page.name
                    : fmt::format("{} - {}", page.name, page.title));
  add("version", page.version);
  add("protocol", page.era.empty() ? page.protocol_version
                                   : fmt::format("{} ({})", page.protocol_version, page.era));
  const std::string names = capability_names(page.capabilities);
  add("capabilities", names.empty() ? "none" : names);
  add("instructions", page.instructions);
  return text;
}

}  // namespace client
