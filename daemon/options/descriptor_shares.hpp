#pragma once

#include "options/options.hpp"

namespace bridge {

/// Provides the file descriptors that these options may need, and says in `options` what each part
/// may have of them; warns if they are fewer. Before anything is forked.
void share_descriptors(Options& options, Log& log);

}  // namespace bridge
