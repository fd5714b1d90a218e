#pragma once

#include <sys/types.h>

#include "connection/connect.hpp"
#include "json/document.hpp"
#include "servers/places.hpp"

namespace client {

/// Connects to a daemon that mcp-nc has started, by its socket. Waits at most a second if it hangs.
std::variant<Connected, ConnectFailure> connect_to_instance(const std::string& socket);

/// The process that listens at the other end of this connection; 0 if not in our namespace.
pid_t process_behind(int connection);

/// A descriptor for this process, never for a later one with its number (pidfd_open(2)); on failure
/// errno is set.
FileDescriptor hold_process(pid_t process);
/// Whether it has ended by the deadline.
bool await_end(const FileDescriptor& process, Deadline deadline);

/// Why the daemon that has closed a connection, and that mcp-nc has started, failed to start;
/// nullopt if it did start, or if that is unknown. For a person, on one line. `process`: the peer
/// of the connection.
std::optional<std::string> why_not_started(std::string_view socket, pid_t process);

/// Why the daemon of this socket may have closed the connection, and where to find more: for one
/// that mcp-nc has started, its log.
std::string describe_end(std::string_view socket, pid_t process);

/// A daemon that mcp-nc has started for a server, from its record in the runtime folder. Only its
/// socket tells whether it still runs.
struct Instance {
  std::string id;            ///< the stem of its files' names: instance_of()
  std::string name;          ///< of the server
  std::string file;          ///< that names it, as displayed; "" if typed
  std::string summary;       ///< the command, or the address: summary_of()
  std::string definition{};  ///< hash of the document; "" in a record of an earlier version
};

/// The record of this server's daemon. Pure.
Instance instance_for(const NamedServer& server, std::string id);

/// The record's content. Pure.
std::string record_of(const Instance& instance);
/// nullopt if it is not a record. Pure.
std::optional<Instance> read_record(std::string_view id, std::string_view text);

/// All instances with a record, by name.
std::vector<Instance> find_instances(const Places& places);

/// Whether the instance belongs to this server, perhaps with another definition or other values; a
/// typed one must have the same address or command.
bool is_of(const Instance& instance, const NamedServer& server);

/// Whether it uses a definition that was edited since. REQUIRES: is_of(). Pure.
bool is_former(const Instance& instance, const NamedServer& server);

/// Removes the record of a daemon that has ended, unless one is being started.
void forget_ended(const Instance& instance, const Places& places);

/// The most recently written log of a server of that name; "" if there is none.
std::string newest_log(std::string_view name, const Places& places);

/// The instances of that name that no file defines: they were typed (--url, --run).
std::vector<Instance> typed_instances(std::string_view name, const Places& places);

/// A server selected by its name, and its daemon.
struct NamedDaemon {
  NamedServer server;
  Places places;
  InstancePaths paths{};
};

/// The selected server, without asking the user anything, and without the paths.
std::variant<NamedDaemon, Failure> find_named(const Options& options);

/// A server with the daemons started for it.
struct Started {
  std::string name;
  std::vector<Instance> instances;
  Places places;
  std::string current{};  ///< the id of the daemon that would be used now; "" if no file names it
};

std::variant<Started, Failure> find_started(const Options& options);

/// The daemon's state (bridge/status), if received in time. Leaves its notifications in the ring.
std::optional<json::Value> ask_status(Connected daemon, Deadline deadline);

}  // namespace client
