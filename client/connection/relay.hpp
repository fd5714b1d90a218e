#pragma once

#include <optional>

#include "command_line/duration.hpp"
#include "connection/relay_observer.hpp"
#include "system/file_descriptor.hpp"

namespace client {

/// How the relay ended.
enum class RelayEnd {
  finished,       ///< all was sent, and the daemon closed after its last answer
  output_closed,  ///< nobody reads our output any more
  hung_up,        ///< the daemon closed while our input was still open
  timed_out,      ///< nothing came for `idle` after the end of our input
  output_failed,  ///< errno tells why
};

/// Carries bytes between `input`, the daemon and `output` without looking at them. The end of
/// `input` becomes a half-close: the answers still come. At most 64 KiB are held in each
/// direction; nothing is read for which there is no room. `input` and `output` are not owned and
/// their flags are not changed. If `output` is a terminal, control characters are made visible.
/// `observer` may be null; it outlives the call.
RelayEnd relay(int input, int output, FileDescriptor daemon, std::optional<Milliseconds> idle,
               RelayObserver* observer = nullptr);

}  // namespace client
