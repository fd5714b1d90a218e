#include "session/polled_events.hpp"

#include <algorithm>
#include <array>

#include "json/json_object.hpp"
#include "json/json_text.hpp"
#include "mcp/handshake.hpp"

namespace bridge {
namespace {

constexpr std::string_view method_not_found = "-32601";
constexpr std::string_view unsupported = "-32014";

std::string_view code_of(std::string_view error) { return find_member(error, "code").value_or(""); }

}  // namespace

std::optional<PolledEvents> read_polled_events(std::string_view result, std::string_view name,
                                               std::string_view cursor) {
  const auto events = find_member(result, "events");
  const std::string_view next = find_member(result, "cursor").value_or("null");
  const bool has_cursor = is_string(next);
  if (!events || (!has_cursor && next != "null") || next.size() > PolledEvents::max_cursor)
    return std::nullopt;
  PolledEvents polled;
  if (has_cursor) polled.cursor = next;
  polled.truncated = find_member(result, "truncated") == "true";
  if (polled.truncated) {
    polled.notifications.push_back(own_notification(
        "notifications/events/active",
        JsonObject().add("name", name).add("cursor", RawJson{next}).add("truncated", true).text()));
  }
  const std::size_t before = polled.notifications.size();
  const bool is_list = each_element(*events, [&](std::string_view event) {
    if (!is_object(event)) return false;
    polled.notifications.push_back(own_notification("notifications/events/event", event));
    return true;
  });
  if (!is_list) return std::nullopt;
  // Without progress another request would return the same.
  const bool has_progress = polled.notifications.size() > before && polled.cursor != cursor;
  if (has_progress && has_cursor && find_member(result, "hasMore") == "true") return polled;
  const auto wanted = to_unsigned(find_member(result, "nextPollMs").value_or(""));
  constexpr std::chrono::milliseconds longest = PolledEvents::longest_interval;
  polled.interval = wanted ? std::chrono::milliseconds(std::min<std::uint64_t>(
                                 *wanted, static_cast<std::uint64_t>(longest.count())))
                           : PolledEvents::usual_interval;
  polled.interval =
      std::max<std::chrono::milliseconds>(polled.interval, PolledEvents::least_interval);
  return polled;
}

bool refuses_events(std::string_view error) {
  constexpr std::array<std::string_view, 5> final_codes{method_not_found, "-32602", "-32011",
                                                        "-32012", unsupported};
  return std::find(final_codes.begin(), final_codes.end(), code_of(error)) != final_codes.end();
}

bool refuses_only_streams(std::string_view error) {
  const std::string_view code = code_of(error);
  return code == method_not_found || code == unsupported;
}

}  // namespace bridge
