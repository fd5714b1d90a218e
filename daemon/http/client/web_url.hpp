#pragma once

#include <sys/socket.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

/// An http or https URL, parsed and normalized: scheme and host in lower case, no default port, no
/// dot segments (RFC 3986, section 6.2). A value.
struct WebUrl {
  std::string scheme;
  std::string host;
  std::string port;  ///< empty: the scheme's default
  std::string path;  ///< at least "/"
  std::string query;
  bool has_fragment = false;
  bool has_user = false;

  std::string origin() const { return scheme + "://" + host + (port.empty() ? "" : ":" + port); }
  /// For display: without parts that may contain a secret.
  std::string shown() const { return origin() + path; }
};

std::optional<WebUrl> parse_web_url(const std::string& text);

/// What must not be shown of a URL that is used: user and password, as written, decoded and as the
/// credentials of the scheme Basic; the query and its long values. Pure; empty if it is not a URL.
std::vector<std::string> secrets_of_url(const std::string& text);

/// Whether a secret may be sent there and its responses trusted: https, or plain http to this
/// machine.
bool is_trustworthy(const WebUrl& url);

/// An upstream's URL as the `resource` of RFC 8707 for token requests: without userinfo, query and
/// fragment, and without a path that is only a slash.
std::string resource_of(const std::string& upstream_url);

/// Whether the resource that a server names (`named`: RFC 9728, section 3.3) covers ours: equal, or
/// at the same origin with a path whose whole segments are a prefix of ours. A trailing slash makes
/// no difference.
bool covers_resource(const std::string& named, const std::string& ours);

/// Whether a numeric address (IPv4 or IPv6, as written by curl) can be reached from the whole
/// internet: not of a private network, this machine or link, or a provider's internal network, and
/// not reserved (RFC 6890). False if the text is not an address. Pure.
bool is_public_address(const std::string& address);
/// The same for an address to connect to.
bool is_public_address(const sockaddr& address);

/// Appends `name=value` to a form (application/x-www-form-urlencoded); an empty value is left out.
/// A space becomes %20, which decoders of forms and of URLs read alike; only those of forms read a
/// plus sign so.
void append_field(std::string& form, std::string_view name, std::string_view value);

/// The Authorization value of client_secret_basic: both parts are form-encoded first (RFC 6749,
/// section 2.3.1).
std::string basic_credentials(std::string_view client_id, std::string_view secret);

}  // namespace bridge
