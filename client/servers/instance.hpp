#pragma once

#include <sys/types.h>

#include "connection/connect.hpp"
#include "json/document.hpp"
#include "servers/places.hpp"

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

/// Why the daemon that has closed a connection, and that mcp-nc has started, has never begun to
/// serve; nothing if it has, or if that is not known. For a person, on one line. `process`: the one
/// behind the connection.
std::optional<std::string> why_not_started(std::string_view socket, pid_t process);

/// Why the daemon behind this socket may have closed the connection, and what tells more: of one
/// that mcp-nc has started, its log.
std::string describe_end(std::string_view socket, pid_t process);

/// A daemon that mcp-nc has started for a server, as its record in the runtime folder says. Whether
/// it runs still is known by its socket alone.
struct Instance {
  std::string id;            ///< the stem of its files' names: instance_of()
  std::string name;          ///< of the server
  std::string file;          ///< that names it, as it is shown; "" if it was typed
  std::string summary;       ///< what it starts, or its address: summary_of()
  std::string definition{};  ///< hash of the document; "" in a record of an earlier version
};

/// What is recorded of this server's daemon. Pure.
Instance instance_for(const NamedServer& server, std::string id);

/// The record's content. Pure.
std::string record_of(const Instance& instance);
/// nullopt if it is not a record. Pure.
std::optional<Instance> read_record(std::string_view id, std::string_view text);

/// All that have a record, by name.
std::vector<Instance> find_instances(const Places& places);

/// Whether the instance is one of this server's, perhaps with another definition or other values;
/// of one that was typed, it has to be the same address or command.
bool is_of(const Instance& instance, const NamedServer& server);

/// Whether it serves what the definition was before it was edited. REQUIRES: is_of(). Pure.
bool is_former(const Instance& instance, const NamedServer& server);

/// Removes the record of a daemon that has ended, unless one is being started.
void forget_ended(const Instance& instance, const Places& places);

/// The log that was written last of a server of that name; "" if there is none.
std::string newest_log(std::string_view name, const Places& places);

/// Those of that name that no file names: they were typed (--url, --run).
std::vector<Instance> typed_instances(std::string_view name, const Places& places);

/// A server by its name, and the daemon that serves it.
struct NamedDaemon {
  NamedServer server;
  Places places;
  InstancePaths paths{};
};

/// The server as it was named, without asking for anything, and without the paths.
std::variant<NamedDaemon, Failure> find_named(const Options& options);

/// A server with what has been started for it.
struct Started {
  std::string name;
  std::vector<Instance> instances;
  Places places;
  std::string current{};  ///< the id of the daemon that would be used now; "" if no file names it
};

std::variant<Started, Failure> find_started(const Options& options);

/// The daemon's state (bridge/status), if it says it by then. Its notifications stay in it.
std::optional<json::Value> ask_status(Connected daemon, Deadline deadline);

}  // namespace client
