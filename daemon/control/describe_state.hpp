#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "session/session.hpp"

namespace bridge {

/// The session's state in words, for people: one line, nothing secret. `failure` is why the last
/// try failed.
std::string describe_state(Session::State state, std::string_view target,
                           const std::optional<Failure>& failure);

}  // namespace bridge
