#pragma once

#include <functional>
#include <string>

#include "http/client/http_transfer.hpp"

namespace bridge {

struct HttpOptions;

struct SmallAnswer {
  int status = 0;
  std::string body;
  std::string fault;               ///< why there is no response; nothing secret in it
  bool was_sent = true;            ///< the peer may have got the request
  bool is_public = false;          ///< it came from a public address, and not through a proxy
  std::string www_authenticate{};  ///< from a 401
};

/// One HTTP request for a small JSON document: at most 256 KiB and 10 s, no redirects, on a
/// connection of its own that is closed afterwards. Uses the upstream's TLS settings and the
/// environment's proxies, but not the upstream's headers.
///
/// `done` is called once, from the loop, and may destroy the request; destruction cancels it. The
/// loop's thread only. Errors: SmallAnswer::fault.
class SmallRequest final : private TransferReceiver {
 public:
  using Done = std::function<void(const SmallAnswer&)>;

  /// A GET; with a `form` a POST of that type. `authorization` may be empty.
  SmallRequest(CurlLoop& curl, const HttpOptions& upstream, const std::string& url,
               const std::string* form, const std::string& authorization, Done done,
               const char* form_type = "application/x-www-form-urlencoded");
  SmallRequest(const SmallRequest&) = delete;
  SmallRequest& operator=(const SmallRequest&) = delete;

 private:
  struct Callbacks;

  bool body_received(std::string_view bytes) override;
  void transfer_progressed(bool done, int result) override;

  CurlLoop& curl_;
  Done done_;
  bool was_private_ = false;  ///< an address was refused as private
  bool too_large_ = false;
  bool is_direct_ = false;  ///< without a proxy
  HttpTransfer transfer_;
};

}  // namespace bridge
