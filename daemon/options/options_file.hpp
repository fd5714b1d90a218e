#pragma once

#include <map>
#include <string>
#include <vector>

namespace bridge {

/// The lines of an --options-file by option name, without the dashes: `ring-ttl = 10m`,
/// `ring-ttl 10m`, or a name alone for a flag. `#` begins a comment; a name may stand several
/// times. Throws StartError (78) if it cannot be read.
std::map<std::string, std::vector<std::string>> read_options_file(const std::string& path);

/// The content of a file of at most 1 MiB (read_regular_file()), without the line end at its end.
/// Throws StartError (78).
std::string read_small_file(const std::string& path, const std::string& what);

}  // namespace bridge
