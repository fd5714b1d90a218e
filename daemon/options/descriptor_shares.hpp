#pragma once

#include "options/options.hpp"

namespace bridge {

/// Raises the limit for the file descriptors that these options may need, and sets in `options`
/// each part's share; warns if they are too few. Called before anything is forked.
void share_descriptors(Options& options, Log& log);

}  // namespace bridge
