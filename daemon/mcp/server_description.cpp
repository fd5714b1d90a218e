#include "mcp/server_description.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "mcp/discovery.hpp"
#include "mcp/handshake.hpp"
#include "text/json_text.hpp"

namespace bridge {

ServerDescription::ServerDescription(std::string initialize_result)
    : result_(std::move(initialize_result)), protocol_version_(protocol_version_of(result_)) {}

ServerDescription ServerDescription::discovered(std::string discover_result, std::string target) {
  ServerDescription server;
  server.era_ = Era::modern;
  server.result_ = std::move(discover_result);
  server.target_ = std::move(target);
  server.protocol_version_ = newest_version;
  return server;
}

std::string ServerDescription::initialize_result_for(std::string_view asked) const {
  if (era_ == Era::modern) return initialize_result_of(result_, asked, target_);
  std::string result = result_;
  const auto kept = find_member(result_, "protocolVersion");
  if (!kept || !is_string(*kept) || !is_known_legacy_version(asked)) return result;
  // Revisions are dates: the order of the text is the order of time.
  if (asked >= kept->substr(1, kept->size() - 2)) return result;
  const auto begin = static_cast<std::size_t>(kept->data() - result_.data());
  result.replace(begin + 1, kept->size() - 2, asked);
  return result;
}

std::string ServerDescription::discover_result(std::string_view target) const {
  return era_ == Era::modern ? result_ : discover_result_of(result_, target);
}

std::string_view ServerDescription::server_info() const {
  if (era_ == Era::legacy) return find_member(result_, "serverInfo").value_or("null");
  return find_member(find_member(result_, "_meta").value_or(""), meta_key::server_info)
      .value_or("null");
}

bool ServerDescription::declares(std::string_view capability, std::string_view member) const {
  const auto capabilities = find_member(result_, "capabilities");
  const auto declared = capabilities ? find_member(*capabilities, capability) : std::nullopt;
  return declared && find_member(*declared, member) == "true";
}

bool ServerDescription::makes_calls_tasks() const {
  std::string_view at = find_member(result_, "capabilities").value_or("");
  for (const std::string_view name : {"tasks", "requests", "tools", "call"})
    at = find_member(at, name).value_or("");
  return !at.empty();
}

bool ServerDescription::has_extensions() const {
  return find_member(find_member(result_, "capabilities").value_or(""), "extensions").has_value();
}

std::vector<std::string> ServerDescription::declared_list_changes() const {
  std::vector<std::string> methods;
  for (const std::string_view kind : {"tools", "resources", "prompts"}) {
    if (declares(kind, "listChanged"))
      methods.push_back(fmt::format("notifications/{}/list_changed", kind));
  }
  return methods;
}

}  // namespace bridge
