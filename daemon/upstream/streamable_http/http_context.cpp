#include "upstream/streamable_http/http_context.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <utility>

#include "auth/recent_secrets.hpp"

namespace bridge {
namespace {

constexpr std::size_t max_idle_handles = 16;

bool has_been_connected(CURL* handle) {
  curl_off_t microseconds = 0;
  curl_easy_getinfo(handle, CURLINFO_PRETRANSFER_TIME_T, &microseconds);
  return microseconds > 0;
}

}  // namespace

HttpContext::HttpContext(CurlLoop& curl, HttpOptions options, AccessToken& token,
                         ByteBudget& budget, Log& log)
    : curl_(curl),
      options_(std::move(options)),
      token_(token),
      budget_(budget),
      log_(log),
      url_(curl_url()) {
  curl_url_set(static_cast<CURLU*>(url_.get()), CURLUPART_URL, options_.url.c_str(), 0);
}

void HttpContext::UrlCleanup::operator()(void* url) const {
  curl_url_cleanup(static_cast<CURLU*>(url));
}

CurlHandle HttpContext::take_handle() {
  if (!idle_handles_.empty()) {
    CurlHandle handle = std::move(idle_handles_.back());
    idle_handles_.pop_back();
    return handle;
  }
  CurlHandle handle(curl_easy_init(), CurlCleanup{options_.trust});
  CURL* const h = handle.get();
  curl_.prepare(h);
  curl_easy_setopt(h, CURLOPT_URL, options_.url.c_str());
  curl_easy_setopt(h, CURLOPT_CURLU, url_.get());
  curl_easy_setopt(h, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(h, CURLOPT_TCP_NODELAY, 1L);
  curl_easy_setopt(h, CURLOPT_QUICK_EXIT, 1L);
  curl_easy_setopt(h, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(h, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);  // a proxy's head is not the server's
  curl_easy_setopt(h, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(options_.connect_timeout.count()));
  if (options_.http2) curl_easy_setopt(h, CURLOPT_PIPEWAIT, 1L);
  apply_transport_options(h, options_);
  return handle;
}

void HttpContext::give_back(CurlHandle handle) {
  if (!handle || idle_handles_.size() >= max_idle_handles || !has_been_connected(handle.get()))
    return;
  if (handle.get_deleter().trust != options_.trust) return;
  curl_easy_setopt(handle.get(), CURLOPT_ERRORBUFFER, nullptr);  // it was its last user's
  idle_handles_.push_back(std::move(handle));
}

HeaderList HttpContext::common_headers() const {
  HeaderList list;
  append_header(list, "Accept: application/json, text/event-stream");
  append_header(list, "User-Agent: mcp-bridged/" MCP_BRIDGE_VERSION);
  if (fits_header(token_.text(), header_limit::token))
    append_header(list, "Authorization: Bearer " + token_.text());
  append_said(list, "MCP-Protocol-Version", protocol_version_, header_limit::protocol_version);
  append_said(list, "Mcp-Session-Id", session_id_, header_limit::session_id);
  for (const std::string& header : options_.headers) append_header(list, header);
  return list;
}

const HeaderList& HttpContext::post_headers() {
  if (!post_headers_ || headers_token_ != token_.generation()) {
    headers_token_ = token_.generation();
    post_headers_ = common_headers();
    append_header(post_headers_, "Content-Type: application/json");
    append_header(post_headers_, "Expect:");
  }
  return post_headers_;
}

HeaderList HttpContext::stream_headers(const std::string& last_event_id) const {
  HeaderList list = common_headers();
  // Only an event stream will do: the first header is replaced by a narrower one.
  HeaderList narrowed;
  append_header(narrowed, "Accept: text/event-stream");
  for (const curl_slist* item = list->next; item != nullptr; item = item->next) {
    append_header(narrowed, item->data);
  }
  append_said(narrowed, "Last-Event-ID", last_event_id, header_limit::event_id, Blanks::inside);
  return narrowed;
}

void HttpContext::set_session_id(std::string id) {
  if (id == session_id_) return;
  session_id_ = std::move(id);
  post_headers_.reset();
}

void HttpContext::set_protocol_version(std::string version) {
  protocol_version_ = std::move(version);
  post_headers_.reset();
}

void HttpContext::reconfigure(const HttpOptions& options) {
  options_.headers = options.headers;
  options_.connect_timeout = options.connect_timeout;
  options_.request_timeout = options.request_timeout;
  options_.request_max = options.request_max;
  options_.pause_timeout = options.pause_timeout;
  options_.stream_retries = options.stream_retries;
  // Another file is another option, which changes only with a restart.
  if (options.ca_file == options_.ca_file &&
      options.client_certificate == options_.client_certificate &&
      options.client_key == options_.client_key) {
    options_.trust = options.trust;
  }
  idle_handles_.clear();
  post_headers_.reset();
}

void HttpContext::forget_session() {
  session_id_.clear();
  protocol_version_.clear();
  post_headers_.reset();
}

void HttpContext::set_endpoint(const std::string& url) {
  endpoint_ = url;
  curl_url_set(static_cast<CURLU*>(url_.get()), CURLUPART_URL, post_url().c_str(), 0);
}

std::string HttpContext::without_secrets(std::string text) const {
  std::vector<std::string> secrets = token_.secrets();
  secrets.push_back(session_id_);
  for (const std::string& header : options_.headers) {
    const auto value = header.find_first_not_of(" \t", header.find(':') + 1);
    if (value != header.npos) secrets.push_back(header.substr(value));
  }
  return redacted(std::move(text), std::move(secrets));
}

}  // namespace bridge
