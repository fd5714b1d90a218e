#pragma once

#include <string>
#include <vector>

#include "render/content.hpp"
#include "terminal/console.hpp"

namespace client {

/// Prints the parts on stdout. Data goes to a file in `save_folder`, whose path is printed; without
/// a folder ("") a line with its type and size stands for it. False if data could not be saved,
/// which is said on stderr.
bool present(const std::vector<ContentPart>& parts, const std::string& save_folder,
             Console& console);

}  // namespace client
