#pragma once

#include "state/log_format.hpp"
#include "upstream/upstream_options.hpp"

namespace bridge {

/// Which upstream the options name, for the state that belongs to it: the command and its folder,
/// or the URL without what is secret before its host. Headers and tokens may change.
TargetHash hash_of_target(const UpstreamOptions& options);

}  // namespace bridge
