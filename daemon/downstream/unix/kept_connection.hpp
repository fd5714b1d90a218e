#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "json/line_splitter.hpp"
#include "notifications/ring.hpp"

namespace bridge {

/// What waits to be written to a client, for another image of the program to write on. A value.
struct KeptOutbox {
  struct Queued {
    std::string line;
    Sequence behind{};
    Sequence entry{};

    template <class Fields>
    void each_field(Fields&& fields) {
      fields(line, behind, entry);
    }
  };

  RingReader reader;
  Sequence last_to_read{};
  std::uint64_t place = 0;  ///< in the ring: none, taken, reads
  std::vector<std::string> ahead;
  std::vector<Queued> queued;
  std::string partial;
  std::uint64_t partial_written = 0;
  Sequence partial_entry{};  ///< 0: it is not from the ring
  Sequence partial_tells_of{};
  std::vector<Sequence> written_entries;
  std::uint64_t lost = 0;

  template <class Fields>
  void each_field(Fields&& fields) {
    fields(reader, last_to_read, place, ahead, queued, partial, partial_written, partial_entry,
           partial_tells_of, written_entries, lost);
  }
};

/// A client's connection as it is between two turns, with the bytes that were read of it and not
/// handled, and those that were not written yet. A value; the descriptor stays whose it is.
struct KeptConnection {
  std::uint64_t descriptor = 0;
  std::uint64_t id = 0;  ///< ClientId
  std::uint64_t pid = 0;
  std::uint64_t uid = 0;
  std::uint64_t connected = 0;  ///< by the monotonic clock, in its own units
  std::uint64_t phase = 0;
  std::uint64_t feed = 0;
  bool feed_begun = false;
  bool input_paused = false;
  bool reset = false;
  LineSplitter::Rest input;
  KeptOutbox outbox;

  template <class Fields>
  void each_field(Fields&& fields) {
    fields(descriptor, id, pid, uid, connected, phase, feed, feed_begun, input_paused, reset, input,
           outbox);
  }
};

}  // namespace bridge
