#include "verbs/exit_code.hpp"

#include <algorithm>
#include <array>

#include "json/scan.hpp"

namespace client {
namespace {

constexpr std::array<std::string_view, 7> upstream_kinds = {
    "dns", "connect", "tls", "closed", "session", "auth", "too_large"};
/// Where these met the opening of the session there is no server to speak with; otherwise one has
/// answered, if badly.
constexpr std::array<std::string_view, 2> upstream_kinds_at_opening = {"http", "malformed"};

template <std::size_t Count>
bool contains(const std::array<std::string_view, Count>& kinds, std::string_view kind) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

}  // namespace

ExitCode exit_code_for_error(std::string_view error_json) {
  const auto data = json::member(error_json, "data");
  if (!data || json::string_member(*data, "source") != "bridge") return ExitCode::answered_error;
  const std::string kind = json::string_member(*data, "kind");
  if (kind == "timeout") return ExitCode::timed_out;
  if (kind == "shutdown") return ExitCode::unreachable;
  const bool is_opening = json::member(*data, "opening") == std::optional<std::string_view>("true");
  const bool is_upstream =
      contains(upstream_kinds, kind) || (is_opening && contains(upstream_kinds_at_opening, kind));
  return is_upstream ? ExitCode::upstream : ExitCode::answered_error;
}

}  // namespace client
