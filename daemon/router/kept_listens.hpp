#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "notifications/ring.hpp"

namespace bridge {

/// The `subscriptions/listen` of clients that go along to another image of the program, and what is
/// held at the upstream for those that were cut off. A value.
struct KeptListens {
  struct Listen {
    std::uint64_t client = 0;  ///< ClientId
    std::string raw_id;
    std::string filter;  ///< SubscriptionFilter::json()
    std::string extensions;
    RingReader reader;
    bool is_acknowledged = false;

    template <class Fields>
    void each_field(Fields&& fields) {
      fields(client, raw_id, filter, extensions, reader, is_acknowledged);
    }
  };
  struct Held {
    std::string uri;
    std::uint64_t until = 0;  ///< in ticks of SteadyTime

    template <class Fields>
    void each_field(Fields&& fields) {
      fields(uri, until);
    }
  };

  std::vector<Listen> listens;
  std::vector<Held> held;  ///< all that listens hold

  template <class Fields>
  void each_field(Fields&& fields) {
    fields(listens, held);
  }
};

}  // namespace bridge
