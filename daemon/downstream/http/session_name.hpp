#pragma once

#include <string>

namespace bridge {

/// A session id that cannot be guessed: 128 bits from the kernel, 32 hexadecimal digits (MCP,
/// "Session Management": visible ASCII, cryptographically secure).
std::string make_session_name();

}  // namespace bridge
