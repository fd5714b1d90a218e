#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace bridge {

struct TrustFiles;

/// How the upstream is reached over HTTP.
struct HttpOptions {
  std::string url;                     ///< http:// or https://
  std::string url_source = "the URL";  ///< where it was named, for people: "--url"
  std::string unix_socket;             ///< the server's socket, if the URL was http+unix://
  std::string target;                  ///< the URL for people: no userinfo, no query
  std::string proxy;                   ///< empty: none
  std::string no_proxy;
  std::vector<std::string> headers;  ///< `Name: value`

  bool is_tls() const { return url.compare(0, 8, "https://") == 0; }

  std::string ca_file;  ///< --ca-file; empty: the system's
  std::string
      system_ca_file;  ///< where that is (ca_store.hpp); empty: where libcurl looks by itself
  std::string client_certificate;
  std::string client_key;
  std::shared_ptr<const TrustFiles> trust;  ///< what these three hold; null if none is set
  bool insecure = false;
  // What a server names for SmallRequests.
  bool may_be_private = false;  ///< it may have a private address, whoever named it
  bool public_only = false;     ///< no connection to a private address
  bool http2 = false;

  std::size_t max_frame = 8u << 20;
  bool server_stream = true;
  int stream_retries = -1;  ///< failed openings in a row; -1: no bound
  std::chrono::milliseconds connect_timeout{10000};
  std::chrono::milliseconds request_timeout{300000};  ///< without a byte; 0: none
  std::chrono::milliseconds request_max{3600000};     ///< in all; 0: none
  /// How long both are put off while an answer is not read because its client does not.
  std::chrono::milliseconds pause_timeout{30000};
};

/// Takes `url` apart: fills url, unix_socket and target, and the proxy from the environment's
/// HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY. Returns why it cannot be one, or an empty
/// string.
std::string set_url(HttpOptions& options, const std::string& url);

/// `location`, resolved against `base`, if it has the same scheme, host and port; else empty.
std::string same_origin_url(const std::string& base, const std::string& location);

/// Whether the URL's host is this machine.
bool is_local(const HttpOptions& options);

}  // namespace bridge
