#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

/// The result of an `events/poll` (the events extension, SEP-3415). A value.
struct PolledEvents {
  static constexpr std::size_t max_cursor = 4096;
  static constexpr std::chrono::seconds least_interval{1};
  static constexpr std::chrono::seconds usual_interval{30};
  static constexpr std::chrono::hours longest_interval{1};

  /// As on a stream: `notifications/events/active` first if events were lost, then each event as
  /// the server wrote it.
  std::vector<std::string> notifications;
  std::string cursor;      ///< as JSON; empty: the server keeps no history
  bool truncated = false;  ///< events since the last cursor were lost
  /// Until the next poll; 0: there are more events.
  std::chrono::milliseconds interval{};
};

/// Reads the result of a poll of the events `name` after `cursor` (JSON or empty). nullopt: it is
/// malformed, or its cursor is longer than max_cursor. Pure.
std::optional<PolledEvents> read_polled_events(std::string_view result, std::string_view name,
                                               std::string_view cursor);

/// Whether an error response means that the request will not succeed later either: an unknown
/// method or event, wrong arguments, no permission, or a way of delivery that is not offered.
bool refuses_events(std::string_view error);
/// The same of `events/stream`, if the events may still be polled.
bool refuses_only_streams(std::string_view error);

}  // namespace bridge
