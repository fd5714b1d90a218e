#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "mcp/handshake.hpp"

namespace bridge {

/// What clients have set in the session, and a new one has to be told again.
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
  not_now,  ///< `no`, until the session that was opened instead is lost
};
constexpr Speaks last_of(Speaks) { return Speaks::not_now; }

/// Which eras the server speaks, as far as its clients have needed to know.
struct ServerEras {
  Speaks legacy = Speaks::unknown;
  Speaks modern = Speaks::unknown;

  Speaks& of(Era era) { return era == Era::modern ? modern : legacy; }
  Speaks of(Era era) const { return era == Era::modern ? modern : legacy; }
  bool excludes(Era era) const { return of(era) == Speaks::no || of(era) == Speaks::not_now; }
  /// "legacy", "modern", "both"; empty: not known.
  std::string_view name() const {
    if (legacy == Speaks::yes) return modern == Speaks::yes ? "both" : "legacy";
    return modern == Speaks::yes ? "modern" : "";
  }

  template <class A>
  void each_field(A& archive) {
    archive(legacy, modern);
  }
};

/// All that is kept from one session to the next, as one value: what would have to outlive the
/// daemon for another one to go on where it has ended. Pure.
struct KeptSession {
  std::uint32_t number = 0;                 ///< of the last legacy session, from 1; 0: none
  std::string initialize_params;            ///< what it was opened with
  ServerEras eras;                          ///< what the server speaks
  std::optional<ServerDescription> server;  ///< its InitializeResult; none before the handshake
  std::optional<ServerDescription> modern;  ///< its DiscoverResult; none before it was asked
  SessionSettings settings;
  std::vector<UpstreamId> unanswered;  ///< requests whose clients are gone with their daemon
  UpstreamIdSource ids;  ///< goes on where it was, so that no id is used twice with a server

  template <class A>
  void each_field(A& archive) {
    archive(number, initialize_params, eras, server, modern, settings, unanswered, ids);
  }
};

}  // namespace bridge
