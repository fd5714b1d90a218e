#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bridge {

/// Which sessions go on in the new process, and the streams on which a modern upstream speaks by
/// itself: at a local server they are still open, and are closed when others have taken their
/// place. A value.
struct KeptStreams {
  struct Events {
    std::uint64_t id = 0;  ///< UpstreamId; 0: none is open
    std::string cursor;    ///< EventStreams

    template <class Fields>
    void each_field(Fields&& fields) {
      fields(id, cursor);
    }
  };

  bool legacy_is_there = false;  ///< the session of that era
  bool modern_is_there = false;
  bool had_listen = false;     ///< one was acknowledged
  std::uint64_t listen = 0;    ///< UpstreamId; 0: none is open
  std::vector<Events> events;  ///< one for each --event, in their order

  template <class Fields>
  void each_field(Fields&& fields) {
    fields(had_listen, listen, events, legacy_is_there, modern_is_there);
  }
};

}  // namespace bridge
