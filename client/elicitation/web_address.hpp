#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace client {

/// The host of an address in its form for a lookup (RFC 5890: labels that are not ASCII as `xn--…`,
/// RFC 3492), with capital letters of Latin, Greek and Cyrillic made small; a port stays. Other
/// characters that a browser treats as equal stay as they are. nullopt if it is not UTF-8, or too
/// long for a host. Pure.
std::optional<std::string> punycode_host(std::string_view host);

/// The host that a browser opens for this address, and its port if one is named; "" if it is not an
/// http or https address. What stands before an `@` is not a host, even if it looks like one. Pure.
std::string host_of(std::string_view address);

/// The whole address and, separately, its host, each on its own line with a line break: characters
/// of the host that are not plain ASCII, and invisible ones of the address, are escaped. A host
/// with other letters is followed by its ASCII form, and parts that make an address look like that
/// of another host are pointed out.
std::string describe_address(std::string_view address);

}  // namespace client
