#pragma once

#include "servers/find.hpp"
#include "system/files.hpp"

namespace client {

/// The folders of the daemons that mcp-nc starts. They belong to the user, and no other user may
/// enter them.
struct Places {
  std::string runtime;  ///< $XDG_RUNTIME_DIR/mcp-bridged, else /tmp/mcp-bridged-UID
  std::string state;    ///< $XDG_STATE_HOME/mcp-bridged, else ~/.local/state/mcp-bridged
};

/// Creates missing folders. A folder that belongs to another user, or that others may use, is
/// refused: then the reason, for a person.
std::variant<Places, std::string> make_places(ReadVariable read);

/// Identifies a server in file names: its name, in safe characters, and a hash of its file, name
/// and definition, of the values of its variables and of its settings. Pure except for `read`.
std::string instance_of(const NamedServer& server, ReadVariable read);
/// The first part of that, common to all instances of the server's name. Pure.
std::string harmless_name(std::string_view name);

struct InstancePaths {
  std::string socket;
  std::string record;  ///< its description; see Instance
  std::string log;
};
InstancePaths paths_of(const Places& places, std::string_view instance);

/// The lock for starting a daemon: only one daemon per name is started at a time. Empty if it
/// fails, or without `waits` if another process holds it.
FileDescriptor lock_starting(const Places& places, bool waits = true);

}  // namespace client
