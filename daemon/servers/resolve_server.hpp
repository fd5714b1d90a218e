#pragma once

#include <string>

#include "servers/server_config.hpp"
#include "servers/variables.hpp"

namespace bridge {

/// `entry` with every variable replaced. Throws StartError (78) that names all variables without a
/// value, and no value. With `sources.may_ask` the terminal is asked for what is missing, once all
/// else is there; the answers are kept in `sources`.
ServerEntry resolve_server(const ServerEntry& entry, const ServerConfig& config,
                           InputSources& sources, const std::string& source);

}  // namespace bridge
