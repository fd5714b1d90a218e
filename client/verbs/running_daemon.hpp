#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "connection/connect.hpp"

namespace client {

/// At a daemon that mcp-nc has started, by its socket; nothing if nobody listens there.
std::optional<Connected> connect_to_instance(const std::string& socket);

/// 0 if it is in no namespace that we see.
pid_t process_behind(const Connected& connected);

}  // namespace client
