#pragma once

#include <string>
#include <vector>

#include "json/value.hpp"
#include "terminal/styled.hpp"

namespace client {

/// The tasks of the server (MCP 2025-11-25, "Tasks") as a table with a heading. Their ids are never
/// cut.
std::vector<StyledLine> render_tasks(const std::vector<json::Value>& tasks, const Look& look);

/// One of them: its state, and behind it what the server says of it.
std::string render_task(const json::Value& task);

}  // namespace client
