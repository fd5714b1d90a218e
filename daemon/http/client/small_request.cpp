#include "http/client/small_request.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/log.hpp"
#include "http/client/http_transfer.hpp"
#include "http/client/web_url.hpp"

namespace bridge {
namespace {

constexpr std::chrono::milliseconds small_request_time{10000};
constexpr std::size_t small_answer_size = 256u << 10;

/// The upstream's options for another URL: with the proxy for that URL, and with the Unix socket
/// only for its own origin.
HttpOptions options_for(const HttpOptions& upstream, const std::string& url) {
  HttpOptions options = upstream;
  set_url(options, url);
  if (!upstream.unix_socket.empty() && !same_origin_url(upstream.url, url).empty()) {
    options.unix_socket = upstream.unix_socket;
    options.proxy.clear();
  }
  return options;
}

}  // namespace

struct SmallRequest::Callbacks {
  /// Called by curl before it connects, for each address of the name. If one is refused, another
  /// may be allowed.
  static curl_socket_t open_public_socket(void* self, curlsocktype, curl_sockaddr* address) {
    auto& request = *static_cast<SmallRequest*>(self);
    if (is_public_address(address->addr))
      return request.curl_.open_socket(address->family, address->socktype, address->protocol);
    request.was_private_ = true;
    return CURL_SOCKET_BAD;
  }
};

SmallRequest::SmallRequest(CurlLoop& curl, const HttpOptions& upstream, const std::string& url,
                           const std::string* form, const std::string& authorization, Done done,
                           const char* form_type)
    : curl_(curl), done_(std::move(done)), transfer_(curl, *this) {
  HeaderList headers;
  append_header(headers, "Accept: application/json");
  append_header(headers, "User-Agent: mcp-session-bridge/" MCP_BRIDGE_VERSION);
  append_header(headers, "Expect:");
  if (form != nullptr) append_header(headers, std::string("Content-Type: ") + form_type);
  if (!authorization.empty()) append_header(headers, "Authorization: " + authorization);
  CURL* const h = transfer_.prepare(HttpTransfer::make_handle(upstream.trust), std::move(headers));
  curl.prepare(h);
  const HttpOptions options = options_for(upstream, url);
  apply_transport_options(h, options);
  // A proxy resolves names, and applies rules of its own.
  is_direct_ = options.proxy.empty() && options.unix_socket.empty();
  if (upstream.public_only && is_direct_) {
    curl_easy_setopt(h, CURLOPT_OPENSOCKETFUNCTION, &Callbacks::open_public_socket);
    curl_easy_setopt(h, CURLOPT_OPENSOCKETDATA, this);
  }
  curl_easy_setopt(h, CURLOPT_URL, url.c_str());
  curl_easy_setopt(h, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(h, CURLOPT_QUICK_EXIT, 1L);
  curl_easy_setopt(h, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(h, CURLOPT_TIMEOUT_MS, static_cast<long>(small_request_time.count()));
  curl_easy_setopt(
      h, CURLOPT_CONNECTTIMEOUT_MS,
      static_cast<long>(std::min(small_request_time, upstream.connect_timeout).count()));
  // On a cached connection that turns out to be dead curl would send the request, whose assertion
  // is valid once, a second time.
  curl_easy_setopt(h, CURLOPT_FRESH_CONNECT, 1L);
  curl_easy_setopt(h, CURLOPT_FORBID_REUSE, 1L);
  if (form != nullptr) {
    curl_easy_setopt(h, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(form->size()));
    curl_easy_setopt(h, CURLOPT_COPYPOSTFIELDS, form->data());
  }
  transfer_.start();
}

bool SmallRequest::body_received(std::string_view bytes) {
  too_large_ = !transfer_.keep_body(bytes, small_answer_size);
  return !too_large_;
}

void SmallRequest::transfer_progressed(bool done, int result) {
  if (!done) return;
  SmallAnswer answer;
  answer.status = transfer_.head().status;
  answer.body = transfer_.body();
  answer.www_authenticate = transfer_.head().www_authenticate;
  curl_off_t sent_at = 0;
  curl_easy_getinfo(transfer_.handle(), CURLINFO_PRETRANSFER_TIME_T, &sent_at);
  answer.is_public = is_direct_ && transfer_.is_peer_public();
  answer.was_sent = result == CURLE_OK || sent_at > 0;
  if (too_large_) {
    answer.fault = fmt::format("the answer is over {} KiB", small_answer_size >> 10);
  } else if (result == CURLE_COULDNT_CONNECT && was_private_) {
    answer.fault =
        "it has a private address, which a public server may not name (--oauth-allow-private)";
  } else if (result == CURLE_BAD_CONTENT_ENCODING && transfer_.head().is_encoded()) {
    answer.fault = fmt::format("its content encoding '{}' cannot be decoded",
                               printable(transfer_.head().content_encoding, 80));
  } else if (result != CURLE_OK) {
    answer.fault = curl_easy_strerror(static_cast<CURLcode>(result));
  }
  const Done report = std::move(done_);
  report(answer);
}

}  // namespace bridge
