#pragma once

namespace bridge {

/// Called first in main. In a container without an init the daemon would be process 1, whose duty
/// it is to reap what others leave behind (a token command's helpers, processes of `docker exec`),
/// and for which signals work otherwise. So that process stays behind here, small: it passes
/// signals on, reaps, and ends as the daemon ends. It returns in the daemon, another process; at
/// once if this is not process 1.
void leave_first_process_behind();

}  // namespace bridge
