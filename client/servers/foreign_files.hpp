#pragma once

#include <string>
#include <vector>

#include "servers/named_server.hpp"

namespace client {

/// The JSON files in which other programs name servers, in the order in which they are looked
/// through: in the user's home those of Claude Code (first what it keeps for this folder), Claude
/// Desktop, Cursor, Windsurf and VS Code, then in this folder those of Cursor and VS Code, which
/// come from whoever wrote the folder. What one in the home names needs no approval if only its
/// user can have written it. `folder`: the current one, "" if it is not known. Pure but for `read`.
std::vector<ConfigFile> foreign_files(ReadVariable read, const std::string& folder);

}  // namespace client
