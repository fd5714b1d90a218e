#pragma once

#include "control.hpp"
#include "proxy.hpp"
#include "socket.hpp"

namespace proxy {

/// Serves until the command `quit` or `signals` (a signalfd) is readable. One thread, poll(2).
void run(Proxy& proxy, const Socket& control, const Socket& signals);

}  // namespace proxy
