#pragma once

#include <vector>

#include "json/value.hpp"
#include "terminal/styled.hpp"

namespace client {

/// The jobs of bridge/jobs as a table with a heading. Their ids are never cut.
std::vector<StyledLine> render_jobs(const std::vector<json::Value>& jobs, const Look& look);

}  // namespace client
