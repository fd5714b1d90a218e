#include "mcp/handshake.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "jsonrpc/frame.hpp"
#include "mcp/json_edit.hpp"
#include "text/json_text.hpp"

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
  std::string supported = quote(newest_version);
  if (era == Era::legacy) {
    for (const std::string_view version : legacy_versions) supported += ',' + quote(version);
  }
  return fmt::format(
      R"({{"code":{},"message":"Unsupported protocol version","data":{{"supported":[{}],"requested":{}}}}})",
      mcp_error::unsupported_version, supported, requested);
}

std::string params_to_keep(const Frame& initialize) {
  std::string params(initialize.text(initialize.params));
  if (const Slice token = initialize.progress_token; token.present()) {
    const std::size_t begin = initialize.params.begin;
    const Slice member = member_around(params, {token.begin - begin, token.end - begin});
    params.erase(member.begin, member.size());
  }
  return params;
}

std::string own_initialize_params(std::string_view capabilities) {
  return fmt::format(R"({{"protocolVersion":"{}","capabilities":{},"clientInfo":{}}})",
                     newest_legacy_version, capabilities, own_client_info);
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
