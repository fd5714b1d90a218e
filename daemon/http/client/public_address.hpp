#pragma once

#include <sys/socket.h>

#include <string>

namespace bridge {

/// Whether a numeric address (IPv4 or IPv6, as curl says it) is one that the whole internet can
/// reach: none of a private network, of this machine or link, of a provider's inside, and none that
/// is reserved (RFC 6890). False for a text that is no address. Pure.
bool is_public_address(const std::string& address);
/// The same of an address that is to be connected to.
bool is_public_address(const sockaddr& address);

}  // namespace bridge
