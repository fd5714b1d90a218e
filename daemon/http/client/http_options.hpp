#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

/// The content of a configured file, as a file that only this process has: a library can open it by
/// its path at any time, and does not block.
class HeldFile {
 public:
  /// Throws StartError (78) if the file cannot be created.
  explicit HeldFile(const std::string& content);
  ~HeldFile();
  HeldFile(const HeldFile&) = delete;
  HeldFile& operator=(const HeldFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  int descriptor_;
  std::string path_;
};

/// --ca-file, --client-cert and --client-key as they were at the start or at the last SIGHUP. curl
/// opens such files by name with every TLS connection: these, and not the user's own, one of which
/// may be a FIFO by then. Immutable; shared by the handles that may still use it.
struct TrustFiles {
  std::unique_ptr<HeldFile> authorities;  ///< null: the option is not set
  std::unique_ptr<HeldFile> certificate;
  std::unique_ptr<HeldFile> key;
};

/// The files in which distributions keep their trusted certificate authorities (PEM).
const std::vector<std::string>& known_ca_files();

/// The first of `known` that is readable, else `own`; empty if `usual`, the default of the TLS
/// library, is readable, or if none is.
std::string choose_ca_file(std::string_view usual, const std::vector<std::string>& known,
                           const std::string& own);

/// The authorities shipped in `share/` with a self-contained program (docker/self_contained.sh), by
/// the path of one of its libraries, in `lib/`; empty: in no such folder.
std::string shipped_ca_file(std::string_view library);

/// The file to trust if libcurl's default is missing: on another distribution, or on one without
/// any, where shipped_ca_file() is used. Empty: libcurl's default.
std::string find_ca_file();

/// How to reach the upstream over HTTP.
struct HttpOptions {
  std::string url;                     ///< http:// or https://
  std::string url_source = "the URL";  ///< where it was set, for messages: "--url"
  std::string unix_socket;             ///< the server's socket, for a http+unix:// URL
  std::string target;                  ///< the URL as shown: no userinfo, no query
  std::string proxy;                   ///< empty: none
  std::string no_proxy;
  std::vector<std::string> headers;  ///< `Name: value`

  bool is_tls() const { return url.compare(0, 8, "https://") == 0; }

  std::string ca_file;         ///< --ca-file; empty: the system's
  std::string system_ca_file;  ///< where that is (find_ca_file()); empty: libcurl's default
  std::string client_certificate;
  std::string client_key;
  std::shared_ptr<const TrustFiles> trust;  ///< the content of these three; null if none is set
  bool insecure = false;
  // For the URLs that a server names for a SmallRequest.
  bool may_be_private = false;  ///< private addresses are allowed, whichever server named them
  bool public_only = false;     ///< no connection to a private address
  bool http2 = false;

  std::size_t max_frame = 8u << 20;
  bool server_stream = true;
  int stream_retries = -1;  ///< consecutive failures to open a stream; -1: unlimited
  std::chrono::milliseconds connect_timeout{10000};
  std::chrono::milliseconds request_timeout{300000};  ///< without a byte; 0: none
  std::chrono::milliseconds request_max{3600000};     ///< in total; 0: none
  /// How far both are extended while a response is not read because its client does not read.
  std::chrono::milliseconds pause_timeout{30000};
};

/// Parses `url`: sets url, unix_socket and target, and the proxy from the environment's
/// HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY. Returns why it is not valid, or an empty
/// string.
std::string set_url(HttpOptions& options, const std::string& url);

/// `location`, resolved against `base`, if it has the same scheme, host and port; else empty.
std::string same_origin_url(const std::string& base, const std::string& location);

/// Whether the URL's host is this machine.
bool is_local(const HttpOptions& options);

}  // namespace bridge
