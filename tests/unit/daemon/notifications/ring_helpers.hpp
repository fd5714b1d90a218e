#pragma once

#include <string>
#include <utility>

#include "../lines.hpp"
#include "notifications/ring.hpp"

namespace bridge {

constexpr Sequence without_end = static_cast<Sequence>(~std::uint64_t{0});
inline const WallTime today{};

inline bool push(Ring& ring, std::string text, std::string key = {}) {
  return ring.push(std::move(text), "m", std::move(key), today);
}

/// The ring's entries after `since`, without the line ends.
inline Lines held(const Ring& ring, std::uint64_t since = 0) {
  Lines lines;
  ring.each_after(static_cast<Sequence>(since), [&](const RingEntry& entry) {
    lines.push_back(entry.line.substr(0, entry.line.size() - 1));
    return true;
  });
  return lines;
}

/// Reads up to `count` entries, as a client that writes each whole would. `lost` may be null.
inline Lines drain(const Ring& ring, RingReader& reader, std::size_t count = SIZE_MAX,
                   std::uint64_t* lost = nullptr, Sequence until = without_end) {
  Lines lines;
  std::uint64_t missed = 0;
  while (lines.size() < count) {
    const RingEntry* entry = ring.next_for(reader, until, missed);
    if (entry == nullptr) break;
    lines.push_back(entry->line.substr(0, entry->line.size() - 1));
    Ring::advance(reader, *entry);
  }
  if (lost != nullptr) *lost = missed;
  return lines;
}

/// The client has read everything it was given.
inline void acknowledge(Ring& ring, RingReader& reader) {
  reader.acknowledged = reader.next;
  ring.take(reader);
}

/// Reads the first `count` entries that were not taken, as a client that joins now.
inline RingReader take(Ring& ring, std::size_t count = SIZE_MAX) {
  RingReader reader = ring.join(today);
  drain(ring, reader, count);
  acknowledge(ring, reader);
  return reader;
}

}  // namespace bridge
