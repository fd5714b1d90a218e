#pragma once

#include <string_view>
#include <vector>

#include "json/value.hpp"
#include "terminal/styled.hpp"

namespace client {

/// Of a job or a task, by the name of its state.
Tone tone_of_state(std::string_view state);

/// The jobs of bridge/jobs as a table with a heading. Their ids are never cut.
std::vector<StyledLine> render_jobs(const std::vector<json::Value>& jobs, const Look& look);

}  // namespace client
