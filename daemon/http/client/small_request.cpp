#include "http/client/small_request.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "http/client/curl_handle.hpp"

namespace bridge {
namespace {

constexpr std::chrono::milliseconds small_request_time{10000};
constexpr std::size_t small_answer_size = 256u << 10;

/// The upstream's way to another URL: another proxy may be meant for it, and its socket is there
/// for its own origin only.
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

struct SmallRequest::Parts {
  CurlHandle handle;
  HeaderList headers;
  std::string body;
  bool too_large = false;

  static std::size_t take(char* data, std::size_t size, std::size_t count, void* self) {
    auto& parts = *static_cast<Parts*>(self);
    parts.too_large = parts.body.size() + size * count > small_answer_size;
    if (parts.too_large) return 0;
    parts.body.append(data, size * count);
    return size * count;
  }
};

SmallRequest::SmallRequest(CurlLoop& curl, const HttpOptions& upstream, const std::string& url,
                           const std::string* form, const std::string& authorization, Done done)
    : curl_(curl), done_(std::move(done)), parts_(std::make_unique<Parts>()) {
  parts_->handle = CurlHandle(curl_easy_init(), CurlCleanup{upstream.trust});
  CURL* const h = parts_->handle.get();
  curl_.prepare(h);
  apply_transport_options(h, options_for(upstream, url));
  append_header(parts_->headers, "Accept: application/json");
  append_header(parts_->headers, "User-Agent: mcp-session-bridge/" MCP_BRIDGE_VERSION);
  append_header(parts_->headers, "Expect:");
  if (!authorization.empty()) append_header(parts_->headers, "Authorization: " + authorization);
  curl_easy_setopt(h, CURLOPT_URL, url.c_str());
  curl_easy_setopt(h, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(h, CURLOPT_HTTPHEADER, parts_->headers.get());
  curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(h, CURLOPT_QUICK_EXIT, 1L);
  curl_easy_setopt(h, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(h, CURLOPT_TIMEOUT_MS, static_cast<long>(small_request_time.count()));
  curl_easy_setopt(
      h, CURLOPT_CONNECTTIMEOUT_MS,
      static_cast<long>(std::min(small_request_time, upstream.connect_timeout).count()));
  // A connection that was kept might turn out to be dead, and curl would then send an assertion,
  // which is good for one use, a second time.
  curl_easy_setopt(h, CURLOPT_FRESH_CONNECT, 1L);
  curl_easy_setopt(h, CURLOPT_FORBID_REUSE, 1L);
  if (form != nullptr) {
    curl_easy_setopt(h, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(form->size()));
    curl_easy_setopt(h, CURLOPT_COPYPOSTFIELDS, form->data());
  }
  curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, &Parts::take);
  curl_easy_setopt(h, CURLOPT_WRITEDATA, parts_.get());
  curl_.add(h, *this);
}

SmallRequest::~SmallRequest() {
  if (running_) curl_.remove(parts_->handle.get(), *this);
}

void SmallRequest::transfer_progressed(bool done, int result) {
  if (!done) return;
  running_ = false;
  SmallAnswer answer;
  long status = 0;
  curl_easy_getinfo(parts_->handle.get(), CURLINFO_RESPONSE_CODE, &status);
  answer.status = static_cast<int>(status);
  answer.body = std::move(parts_->body);
  if (parts_->too_large) {
    answer.fault = fmt::format("the answer is over {} KiB", small_answer_size >> 10);
  } else if (result != CURLE_OK) {
    answer.fault = curl_easy_strerror(static_cast<CURLcode>(result));
  }
  const Done report = std::move(done_);
  report(answer);
}

}  // namespace bridge
