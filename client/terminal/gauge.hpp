#pragma once

#include <cstddef>
#include <string>

namespace client {

/// A bar of so many cells: `█████▋░░░░` with `unicode`, else `[#####----]` with the brackets beside
/// the cells. A fraction out of 0..1 is brought into it; one above 0 is never shown as nothing, one
/// below 1 never as full.
std::string draw_gauge(double fraction, std::size_t cells, bool unicode);

}  // namespace client
