#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace client {

/// A host of an address as it is looked up (RFC 5890: its labels that are not ASCII as `xn--…`, RFC
/// 3492), small letters of Latin, Greek and Cyrillic for large ones; a port stays. Other characters
/// that a browser takes for one another are left as they are. Nothing if it is no UTF-8, or too
/// long for a host. Pure.
std::optional<std::string> punycode_host(std::string_view host);

}  // namespace client
