#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bridge {

/// The streams on which a modern upstream speaks by itself, for another image of the program: at a
/// local server they are still open, and are closed when others have taken their place. A value.
struct KeptStreams {
  struct Events {
    std::uint64_t id = 0;  ///< UpstreamId; 0: none is open
    std::string cursor;    ///< EventStreams

    template <class Fields>
    void each_field(Fields&& fields) {
      fields(id, cursor);
    }
  };

  bool had_listen = false;     ///< one was acknowledged
  std::uint64_t listen = 0;    ///< UpstreamId; 0: none is open
  std::vector<Events> events;  ///< one for each --event, in their order

  template <class Fields>
  void each_field(Fields&& fields) {
    fields(had_listen, listen, events);
  }
};

}  // namespace bridge
