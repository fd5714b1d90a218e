#pragma once

#include <string_view>

namespace bridge {

/// Whether a host, by name or number, is always this machine: `localhost` in any case, 127.0.0.0/8,
/// `::1`, and IPv4 in IPv6 (RFC 6761, section 6.3; RFC 4291, sections 2.5.3 and 2.5.5.2). An IPv6
/// address with or without its brackets. Decides where the daemon may listen without a token, which
/// `Host` headers it serves, and where a token may go without TLS; so other spellings that a
/// resolver might accept (`127.1`, `localhost.`, a zone) are not. Pure.
bool is_loopback_host(std::string_view host);

}  // namespace bridge
