#pragma once

#include <sys/types.h>

#include <string>
#include <variant>

#include "connection/connect.hpp"
#include "connection/deadline.hpp"
#include "system/file_descriptor.hpp"

namespace client {

/// At a daemon that mcp-nc has started, by its socket. One that hangs is waited for, for a second.
std::variant<Connected, ConnectFailure> connect_to_instance(const std::string& socket);

/// Who has served the socket of this connection; 0 if it is in no namespace that we see.
pid_t process_behind(int connection);

/// Stands for this process, and for no later one of its number (pidfd_open(2)); errno tells why
/// there is none.
FileDescriptor hold_process(pid_t process);
/// Whether it has ended by then.
bool await_end(const FileDescriptor& process, Deadline deadline);

}  // namespace client
