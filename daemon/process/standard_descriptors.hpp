#pragma once

namespace bridge {

/// Opens /dev/null for whichever of 0, 1, 2 is closed: what is opened next would get its number,
/// and log lines would go into it. REQUIRES: nothing was opened before.
void ensure_standard_descriptors();

}  // namespace bridge
