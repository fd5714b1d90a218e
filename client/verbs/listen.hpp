#pragma once

#include "command_line/options.hpp"
#include "connection/connect.hpp"
#include "connection/interrupt.hpp"
#include "terminal/console.hpp"
#include "verbs/exit_code.hpp"

namespace client {

/// Prints notifications until the time, the count or the daemon ends it.
///
/// Plain, it sends nothing: the daemon counts it as a listener, and what it is given is taken. So
/// what was received beyond --count is printed on stderr rather than lost. With --since or --seq
/// it only looks (see ListenJoin).
ExitCode listen(Connected connected, const Options& options, Console& console,
                Interrupt& interrupt);

}  // namespace client
