#pragma once

#include <sys/socket.h>

#include <optional>
#include <string>

namespace bridge {

/// An http or https URL, taken apart and normalized: scheme and host in lower case, no default
/// port, no dot segments (RFC 3986, section 6.2). A value.
struct WebUrl {
  std::string scheme;
  std::string host;
  std::string port;  ///< empty: the scheme's
  std::string path;  ///< at least "/"
  std::string query;
  bool has_fragment = false;
  bool has_user = false;

  std::string origin() const { return scheme + "://" + host + (port.empty() ? "" : ":" + port); }
  /// For people: what may hold a secret is left out.
  std::string shown() const { return origin() + path; }
};

std::optional<WebUrl> parse_web_url(const std::string& text);

/// Whether a secret may be sent there, and what comes from there be believed: https, or plain http
/// to this very machine.
bool is_trustworthy(const WebUrl& url);

/// An upstream's URL as the `resource` of RFC 8707 that tokens are asked for: without userinfo,
/// query and fragment, and without a path that is only a slash.
std::string resource_of(const std::string& upstream_url);

/// Whether the resource that a server says it is (`named`: RFC 9728, section 3.3) covers ours: the
/// same one, or at the same origin with a path that is the beginning of ours by whole segments. A
/// slash at the end makes no difference.
bool covers_resource(const std::string& named, const std::string& ours);

/// Whether a numeric address (IPv4 or IPv6, as curl says it) is one that the whole internet can
/// reach: none of a private network, of this machine or link, of a provider's inside, and none that
/// is reserved (RFC 6890). False for a text that is no address. Pure.
bool is_public_address(const std::string& address);
/// The same of an address that is to be connected to.
bool is_public_address(const sockaddr& address);

}  // namespace bridge
