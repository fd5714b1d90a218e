#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "mcp/handshake.hpp"

namespace bridge {

/// Settings of clients in the session, to be restored in a new one.
struct SessionSettings {
  std::string log_level_params;            ///< of the last `logging/setLevel`; empty: none
  std::vector<std::string> subscriptions;  ///< URIs

  template <class A>
  void each_field(A& archive) {
    archive(log_level_params, subscriptions);
  }
};

/// Whether the server speaks an era.
enum class Speaks : std::uint8_t {
  unknown,
  yes,
  no,
  not_now,  ///< `no`, until the session opened instead is lost
};
constexpr Speaks last_of(Speaks) { return Speaks::not_now; }

/// Which eras the server speaks, as far as clients have needed to know.
struct ServerEras {
  Speaks legacy = Speaks::unknown;
  Speaks modern = Speaks::unknown;

  Speaks& of(Era era) { return era == Era::modern ? modern : legacy; }
  Speaks of(Era era) const { return era == Era::modern ? modern : legacy; }
  bool excludes(Era era) const { return of(era) == Speaks::no || of(era) == Speaks::not_now; }
  /// The last opening has shown that the server speaks no era that the bridge may use.
  bool exclude_both() const { return excludes(Era::legacy) && excludes(Era::modern); }
  /// "legacy", "modern", "both"; empty: unknown.
  std::string_view name() const {
    if (legacy == Speaks::yes) return modern == Speaks::yes ? "both" : "legacy";
    return modern == Speaks::yes ? "modern" : "";
  }

  template <class A>
  void each_field(A& archive) {
    archive(legacy, modern);
  }
};

/// What the next session, daemon or process continues with. A value.
struct SavedSession {
  std::uint32_t number = 0;                 ///< of the last legacy session, from 1; 0: none
  std::string initialize_params;            ///< what it was opened with
  ServerEras eras;                          ///< what the server speaks
  std::optional<ServerDescription> server;  ///< the InitializeResult; none before the handshake
  std::optional<ServerDescription> modern;  ///< the DiscoverResult; none before the first probe
  SessionSettings settings;
  std::vector<UpstreamId> unanswered;  ///< requests whose clients are gone with their daemon
  UpstreamIdSource ids;                ///< continues, so that no id is used twice with a server

  template <class A>
  void each_field(A& archive) {
    archive(number, initialize_params, eras, server, modern, settings, unanswered, ids);
  }
};

/// For an upgrade: which sessions continue, and the bridge's own streams at a modern upstream. At a
/// local server these are still open, and are closed once replaced. A value.
struct SavedStreams {
  struct Events {
    UpstreamId id{};     ///< 0: not open
    std::string cursor;  ///< see EventStreams

    template <class A>
    void each_field(A& archive) {
      archive(id, cursor);
    }
  };

  bool legacy_is_there = false;  ///< whether there is a legacy session
  bool modern_is_there = false;
  bool had_listen = false;     ///< whether one was acknowledged
  UpstreamId listen{};         ///< 0: not open
  std::vector<Events> events;  ///< one per --event, in their order

  template <class A>
  void each_field(A& archive) {
    archive(legacy_is_there, modern_is_there, had_listen, listen, events);
  }
};

}  // namespace bridge
