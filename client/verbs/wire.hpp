#pragma once

#include "command_line/duration.hpp"

namespace client {

/// JSON-RPC 2.0, section 5.1: the answer to a question that nobody here answers.
constexpr int method_not_found = -32601;
/// How long the last message may take to be sent, before the end.
constexpr Milliseconds farewell{500};

}  // namespace client
