#pragma once

#include "command_line/options.hpp"

namespace client {

/// Whether the verb leaves waiting notifications in the daemon: lists and the status only look, and
/// must not use up what waits for another.
bool keeps_notifications(const Options& options);

/// Whether the verb's first request opens the session, if there is none.
bool asks_server(const Options& options);

}  // namespace client
