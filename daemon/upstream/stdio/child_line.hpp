#pragma once

#include <string>

namespace bridge {

/// Whether a line on a child's stdout is a message, or an array of messages, as far as that can be
/// told at a fair price: a long line is not parsed, since who gets it parses it (MCP 2025-11-25,
/// "Transports: stdio": a server must not write anything else there). Pure.
bool is_message(const std::string& line);

}  // namespace bridge
