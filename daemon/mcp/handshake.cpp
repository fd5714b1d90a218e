#include "mcp/handshake.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "jsonrpc/frame.hpp"
#include "text/json_text.hpp"

namespace bridge {
namespace {

constexpr std::array<std::string_view, 4> legacy_versions = {"2024-11-05", "2025-03-26",
                                                             "2025-06-18", newest_legacy_version};

/// Takes the member with this value out of the object around it. REQUIRES: its name has no quote in
/// it.
void erase_member(std::string& text, Slice value) {
  constexpr std::string_view white_space = " \t\r\n";
  const std::size_t name_end = text.rfind('"', value.begin - 1);
  const std::size_t name = text.rfind('"', name_end - 1);
  const std::size_t before = text.find_last_not_of(white_space, name - 1);
  const std::size_t after = text.find_first_not_of(white_space, value.end);
  if (text[before] == ',') {
    text.erase(before, value.end - before);
  } else {
    const std::size_t end = text[after] == ',' ? after + 1 : value.end;
    text.erase(name, end - name);
  }
}

}  // namespace

bool is_known_legacy_version(std::string_view version) {
  return std::find(legacy_versions.begin(), legacy_versions.end(), version) !=
         legacy_versions.end();
}

std::string params_to_keep(const Frame& initialize) {
  std::string params(initialize.text(initialize.params));
  if (const Slice token = initialize.progress_token; token.present()) {
    const std::size_t begin = initialize.params.begin;
    erase_member(params, {token.begin - begin, token.end - begin});
  }
  return params;
}

std::string own_initialize_params(std::string_view capabilities) {
  return fmt::format(
      R"({{"protocolVersion":"{}","capabilities":{},"clientInfo":{{"name":"mcp-session-bridge","version":"{}"}}}})",
      newest_legacy_version, capabilities, MCP_BRIDGE_VERSION);
}

std::string own_request(UpstreamId id, std::string_view method, std::string_view params) {
  if (params.empty()) {
    return fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"{}"}})", value_of(id), method);
  }
  return fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{}}})", value_of(id),
                     method, params);
}

std::string own_notification(std::string_view method, std::string_view params) {
  if (params.empty()) return fmt::format(R"({{"jsonrpc":"2.0","method":"{}"}})", method);
  return fmt::format(R"({{"jsonrpc":"2.0","method":"{}","params":{}}})", method, params);
}

std::string protocol_version_of(std::string_view object) {
  return find_string(object, "protocolVersion").value_or(std::string());
}

bool speaks_only_newer(std::string_view error_object) {
  const std::string_view code = find_member(error_object, "code").value_or("");
  return code == "-32601" || code == "-32022" ||
         error_object.find(newest_version) != error_object.npos;
}

}  // namespace bridge
