#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "notifications/ring.hpp"

namespace bridge {

/// An event's id that is longer cannot be asked for.
constexpr std::size_t longest_event_id = 1024;

/// Where the server stream stood: in which session, and behind which event.
struct StreamPosition {
  std::uint64_t session = 0;  ///< 0: nowhere
  std::string event_id;

  bool operator==(const StreamPosition&) const = default;
};

/// A ring entry as the payload of a record. `position` is that of the event it came in, or none.
std::string ring_entry_record(const RingEntry& entry, const StreamPosition& position);
/// These entries are taken, or not any more.
std::string ring_marks_record(bool taken, const std::vector<Sequence>& entries);
std::string ring_superseded_record(Sequence sequence);
std::string ring_counts_record(const RingCounts& counts, Sequence oldest);

/// The ring that a log's records describe, in whatever order they tell of different entries. Pure.
/// Memory: that of the entries.
class RingReplay {
 public:
  // Each is false if the payload is none of that kind.
  bool entry(std::string_view payload, StreamPosition& position);
  bool marks(std::string_view payload);
  bool superseded(std::string_view payload);
  bool counts(std::string_view payload);

  const RingCounts& counts() const { return counts_; }
  std::vector<RingEntry> take_entries();

 private:
  std::map<std::uint64_t, RingEntry> entries_;
  RingCounts counts_;
  std::uint64_t oldest_ = 0;
};

}  // namespace bridge
