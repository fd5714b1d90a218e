#include "mcp/handshake.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "json/frame.hpp"
#include "json/json_edit.hpp"
#include "json/json_object.hpp"
#include "json/json_text.hpp"
#include "mcp/discovery.hpp"

namespace bridge {
namespace {

constexpr std::array<std::string_view, 4> legacy_versions = {"2024-11-05", "2025-03-26",
                                                             "2025-06-18", newest_legacy_version};

}  // namespace

bool is_known_legacy_version(std::string_view version) {
  return std::find(legacy_versions.begin(), legacy_versions.end(), version) !=
         legacy_versions.end();
}

std::string unsupported_version_error(std::string_view requested, Era era) {
  JsonArray supported;
  supported.add(newest_version);
  if (era == Era::legacy) {
    for (const std::string_view version : legacy_versions) supported.add(version);
  }
  return JsonObject()
      .add("code", mcp_error::unsupported_version)
      .add("message", "Unsupported protocol version")
      .add("data", JsonObject().add("supported", supported).add("requested", RawJson{requested}))
      .text();
}

std::string params_to_save(const Frame& initialize) {
  std::string params(initialize.text(initialize.params));
  if (const Slice token = initialize.progress_token; token.present()) {
    const std::size_t begin = initialize.params.begin;
    const Slice member = member_around(params, {token.begin - begin, token.end - begin});
    params.erase(member.begin, member.size());
  }
  return params;
}

std::string own_initialize_params(std::string_view capabilities) {
  return JsonObject()
      .add("protocolVersion", newest_legacy_version)
      .add("capabilities", RawJson{capabilities})
      .add("clientInfo", RawJson{own_client_info})
      .text();
}

std::string protocol_version_of(std::string_view object) {
  return find_string(object, "protocolVersion").value_or(std::string());
}

bool speaks_only_newer(std::string_view error_object) {
  const std::string_view code = find_member(error_object, "code").value_or("");
  return code == "-32601" || code == "-32022" ||
         error_object.find(newest_version) != error_object.npos;
}

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
  // Revisions are dates, so the order of the text is chronological.
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
