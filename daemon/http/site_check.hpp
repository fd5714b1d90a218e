#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "http/request_head.hpp"

namespace bridge {

/// Which sites may speak to the face: the guard against a web page that reaches it through its
/// visitor's browser, by a name of its own that resolves to this machine (MCP, "Security Warning"
/// of the Streamable HTTP transport).
///
/// Host: on a loopback address only loopback names; else any address as a number, since only a name
/// can be made to point elsewhere. Origin: none, or the same as Host. Everything else by name, `*`
/// for all.
struct SiteCheck {
  bool is_loopback = true;           ///< what the face is bound to
  std::vector<std::string> hosts;    ///< --http-allow-host, without a port
  std::vector<std::string> origins;  ///< --http-allow-origin

  bool admits_host(std::string_view host) const;
  /// `origin` is empty if there is none.
  bool admits_origin(std::string_view origin, std::string_view host) const;
  /// Whether its pages may read the answers (CORS).
  bool is_listed(std::string_view origin) const;
};

/// `host` without its port, lower case; an IPv6 address without its brackets. Empty: it is no host.
std::string host_name(std::string_view host);

bool is_loopback_name(std::string_view name);

}  // namespace bridge
