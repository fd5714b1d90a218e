#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "endpoint.hpp"

namespace demo {

/// What is wrong with the text of an action; nullopt if it can be played.
std::optional<std::string> action_problem(std::string_view action);

/// Responds to a request as the action says.
Answer play_fault(std::string_view action, const HttpRequest& request, const Message& message,
                  Endpoint& endpoint);

}  // namespace demo
