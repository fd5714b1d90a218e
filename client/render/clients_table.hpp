#pragma once

#include <string>
#include <vector>

#include "json/value.hpp"

namespace client {

/// The clients of bridge/status as a table with a heading; one line that says so if there is none.
std::string render_clients(const std::vector<json::Value>& clients);

}  // namespace client
