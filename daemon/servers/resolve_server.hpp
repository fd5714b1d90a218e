#pragma once

#include <string>

#include "servers/server_config.hpp"
#include "servers/variables.hpp"

namespace bridge {

/// `entry` with every variable replaced. Throws StartError (78) that names all variables without a
/// value, and contains no value. With `sources.may_ask` missing values are asked for on the
/// terminal, once everything else is known; the answers are kept in `sources`.
ServerEntry resolve_server(const ServerEntry& entry, const ServerConfig& config,
                           InputSources& sources, const std::string& source);

}  // namespace bridge
