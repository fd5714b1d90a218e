#pragma once

namespace bridge {

class ChildCommand;

/// What the watcher process does, from its fork to its end.
///
/// It is the parent of the child and, as a subreaper, of whatever the child leaves behind, so no
/// process of it can get away. It starts the command when it is told to, says how it ended, and
/// when the daemon is gone (the socket is at its end) it ends all of them, SIGTERM first, and
/// itself.
///
/// Runs in a copy of the daemon's memory in which other threads may have held locks: only what is
/// safe in a signal handler may be called here, nothing is allocated. `socket` and `command` are as
/// the daemon had them at the fork. REQUIRES: all signals are blocked.
[[noreturn]] void run_watcher(int socket, const ChildCommand& command);

}  // namespace bridge
