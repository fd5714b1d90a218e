#pragma once

#include "command_line/options.hpp"
#include "connection/connect.hpp"
#include "connection/interrupt.hpp"
#include "terminal/console.hpp"
#include "verbs/exit_code.hpp"

namespace client {

/// Prints every message that passes through the daemon from now on (bridge/monitor), until --for or
/// --count ends it, or an interrupt. It takes nothing and is asked nothing. With Verb::record they
/// go to a file as JSON lines, which only its owner may read, in place of stdout; then an interrupt
/// is its regular end, and with --json stdout has how many they were.
ExitCode monitor(Connected connected, const Options& options, Console& console,
                 Interrupt& interrupt);

}  // namespace client
