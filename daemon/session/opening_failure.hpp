#pragma once

#include "base/failure.hpp"

namespace bridge {

/// What those are told who wait for a session that could not be opened: that it was the opening
/// (`data.opening`), and where the upstream answered `initialize` with an error, that error as
/// `data.upstream` of one of the bridge's own, whose message repeats nothing of it: the status
/// shows that, and the error may hold what was sent to the upstream. It is not the answer to what
/// they asked; only who sent the `initialize` gets it as it came. Pure.
Failure failure_of_opening(Failure failure);

}  // namespace bridge
