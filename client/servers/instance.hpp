#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "servers/named_server.hpp"
#include "servers/places.hpp"
#include "system/file_descriptor.hpp"

namespace client {

/// A daemon that mcp-nc has started for a server, as its record in the runtime folder says. Whether
/// it runs still is known by its socket alone.
struct Instance {
  std::string id;       ///< the stem of its files' names: instance_of()
  std::string name;     ///< of the server
  std::string file;     ///< that names it, as it is shown; "" if it was typed
  std::string summary;  ///< what it starts, or its address: summary_of()
};

/// The record's content. Pure.
std::string record_of(const Instance& instance);
/// Nothing if it is no record. Pure.
std::optional<Instance> read_record(std::string_view id, std::string_view text);

/// All that have a record, by name.
std::vector<Instance> find_instances(const Places& places);

/// Whether the instance is one of this server's, perhaps with another definition or other values;
/// of one that was typed, it has to be the same address or command.
bool is_of(const Instance& instance, const NamedServer& server);

/// Those of that name that no file names: they were typed (--url, --run).
std::vector<Instance> typed_instances(std::string_view name, const Places& places);

}  // namespace client
