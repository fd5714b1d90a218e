#include "mcp/server_description.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "mcp/handshake.hpp"
#include "text/json_text.hpp"

namespace bridge {

ServerDescription::ServerDescription(std::string initialize_result)
    : result_(std::move(initialize_result)), protocol_version_(protocol_version_of(result_)) {}

std::string ServerDescription::initialize_result_for(std::string_view asked) const {
  std::string result = result_;
  const auto kept = find_member(result_, "protocolVersion");
  if (!kept || !is_string(*kept) || !is_known_legacy_version(asked)) return result;
  // Revisions are dates: the order of the text is the order of time.
  if (asked >= kept->substr(1, kept->size() - 2)) return result;
  const auto begin = static_cast<std::size_t>(kept->data() - result_.data());
  result.replace(begin + 1, kept->size() - 2, asked);
  return result;
}

std::string_view ServerDescription::server_info() const {
  return find_member(result_, "serverInfo").value_or("null");
}

std::vector<std::string> ServerDescription::declared_list_changes() const {
  std::vector<std::string> methods;
  const auto capabilities = find_member(result_, "capabilities");
  if (!capabilities) return methods;
  for (const std::string_view kind : {"tools", "resources", "prompts"}) {
    const auto declared = find_member(*capabilities, kind);
    if (declared && find_member(*declared, "listChanged").value_or("false") == "true") {
      methods.push_back(fmt::format("notifications/{}/list_changed", kind));
    }
  }
  return methods;
}

}  // namespace bridge
