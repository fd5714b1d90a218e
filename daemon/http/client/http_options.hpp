#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

/// What a file of the configuration held, as a file that only this process has: a library may open
/// it by its path at any time, and cannot be made to wait.
class HeldFile {
 public:
  /// Throws StartError (78) if there can be none.
  explicit HeldFile(const std::string& content);
  ~HeldFile();
  HeldFile(const HeldFile&) = delete;
  HeldFile& operator=(const HeldFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  int descriptor_;
  std::string path_;
};

/// --ca-file, --client-cert and --client-key as they were at the start or at the last SIGHUP.
/// curl opens such files by name with every TLS connection: not the user's own, which may be a FIFO
/// by then. Immutable; shared by the handles that may still use it.
struct TrustFiles {
  std::unique_ptr<HeldFile> authorities;  ///< null: the option is not set
  std::unique_ptr<HeldFile> certificate;
  std::unique_ptr<HeldFile> key;
};

/// Where distributions keep the certificate authorities they trust, as one file (PEM).
const std::vector<std::string>& known_ca_files();

/// The first of `known` that can be read, else `own`; empty if `usual`, which the TLS library uses
/// by itself, can be read, or if nothing can.
std::string choose_ca_file(std::string_view usual, const std::vector<std::string>& known,
                           const std::string& own);

/// The file to trust where the one that libcurl was built for is missing: in an image of another
/// distribution, or in one without any, where the copy that stands beside a self-contained program
/// counts (docker/self_contained.sh). Empty: libcurl's own.
std::string find_ca_file();

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
