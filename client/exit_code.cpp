#include "exit_code.hpp"

#include <algorithm>
#include <array>

#include "json/scan.hpp"

namespace client {
namespace {

constexpr std::array<std::string_view, 6> upstream_kinds = {"dns",    "connect", "tls",
                                                            "closed", "session", "auth"};

std::string text_member(std::string_view object, std::string_view name) {
  const auto found = json::member(object, name);
  return found && json::is_string(*found) ? json::decode_string(*found) : std::string();
}

}  // namespace

ExitCode exit_code_for_error(std::string_view error_json) {
  const auto data = json::member(error_json, "data");
  if (!data || text_member(*data, "source") != "bridge") return ExitCode::answered_error;
  const std::string kind = text_member(*data, "kind");
  if (kind == "timeout") return ExitCode::timed_out;
  const bool is_upstream =
      std::find(upstream_kinds.begin(), upstream_kinds.end(), kind) != upstream_kinds.end();
  return is_upstream ? ExitCode::upstream : ExitCode::answered_error;
}

}  // namespace client
