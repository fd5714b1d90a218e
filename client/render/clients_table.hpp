#pragma once

#include <vector>

#include "json/value.hpp"
#include "terminal/styled.hpp"

namespace client {

/// The clients of bridge/status as a table with a heading, those that are idle as one line; one
/// line that says so if there is none. At most `rows` lines, 0 = no limit: then the last one counts
/// those that are not shown. The commands have what the look's width leaves.
std::vector<StyledLine> render_clients(const std::vector<json::Value>& clients, const Look& look,
                                       std::size_t rows);

}  // namespace client
