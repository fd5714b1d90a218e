#include "upstream/streamable_http/http_context.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <utility>

#include "auth/recent_secrets.hpp"
#include "base/header_secrets.hpp"

namespace bridge {

HttpContext::HttpContext(CurlLoop& curl, HttpOptions options, AccessToken& token,
                         ByteBudget& budget, Log& log)
    : curl_(curl),
      options_(std::move(options)),
      token_(token),
      budget_(budget),
      log_(log),
      handles_(curl, options_) {}

HeaderList HttpContext::common_headers() const {
  HeaderList list;
  append_header(list, "Accept: application/json, text/event-stream");
  append_header(list, "User-Agent: mcp-bridged/" MCP_BRIDGE_VERSION);
  if (fits_header(token_.text(), header_limit::token))
    append_header(list, "Authorization: Bearer " + token_.text());
  append_said(list, "MCP-Protocol-Version", form_.protocol_version, header_limit::protocol_version);
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

void HttpContext::set_form(SessionForm form) {
  form_ = std::move(form);
  if (!form_.stateful) session_id_.clear();
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
  handles_.clear();
  post_headers_.reset();
}

void HttpContext::forget_session() {
  session_id_.clear();
  form_ = {};
  post_headers_.reset();
}

void HttpContext::set_endpoint(const std::string& url) {
  endpoint_ = url;
  handles_.set_url(post_url());
}

std::vector<std::string> HttpContext::secrets() const {
  std::vector<std::string> secrets = token_.secrets();
  secrets.push_back(session_id_);
  for (const std::string& header : options_.headers) {
    const auto value = header.find_first_not_of(" \t", header.find(':') + 1);
    if (value != header.npos) add_header_secrets(header.substr(value), secrets);
  }
  return secrets;
}

std::string HttpContext::without_secrets(std::string text) const {
  return redacted(std::move(text), secrets());
}

}  // namespace bridge
