#pragma once

#include "terminal/styled.hpp"
#include "verbs/verbs.hpp"

namespace client {

/// Replaces what begins one job's id by the id. False if it begins several: reported. What begins
/// none is kept, for the daemon to refuse.
bool complete_jobs(Dialogue& dialogue, Options& options);

/// The jobs of bridge/jobs as a table with a heading. At a terminal their ids are cut to what is
/// unique among them, otherwise they are whole.
std::vector<StyledLine> render_jobs(const std::vector<json::Value>& jobs, const Look& look);

}  // namespace client
