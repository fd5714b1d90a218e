#include "upstream/streamable_http/http_context.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "auth/login_desk.hpp"
#include "auth/recent_secrets.hpp"
#include "base/secret_file.hpp"
#include "http/client/http_transfer.hpp"
#include "http/client/web_url.hpp"

namespace bridge {
namespace {

constexpr std::size_t max_idle = 16;
/// The size of curl's receive buffer, which stays with a handle.
constexpr long receive_piece = 64L << 10;
/// How long unused handles beyond the limit are kept.
constexpr std::chrono::milliseconds surplus_time{500};

bool has_been_connected(CURL* handle) {
  curl_off_t microseconds = 0;
  curl_easy_getinfo(handle, CURLINFO_PRETRANSFER_TIME_T, &microseconds);
  return microseconds > 0;
}

}  // namespace

HandlePool::HandlePool(CurlLoop& curl, const HttpOptions& options, ByteBudget& budget)
    : curl_(curl),
      options_(options),
      budget_(budget),
      url_(curl_url()),
      surplus_timer_(curl.loop(), [this] { drop_surplus(); }) {
  set_url(options.url);
}

void HandlePool::UrlCleanup::operator()(void* url) const {
  curl_url_cleanup(static_cast<CURLU*>(url));
}

void HandlePool::set_url(const std::string& url) {
  curl_url_set(static_cast<CURLU*>(url_.get()), CURLUPART_URL, url.c_str(), 0);
}

CurlHandle HandlePool::take_handle() {
  if (!idle_.empty()) {
    CurlHandle handle = std::move(idle_.back());
    idle_.pop_back();
    unused_ = std::min(unused_, idle_.size());
    return handle;
  }
  return make();
}

CurlHandle HandlePool::make() {
  CurlHandle handle = HttpTransfer::make_handle(options_.trust);
  CURL* const h = handle.get();
  curl_.prepare(h);
  curl_easy_setopt(h, CURLOPT_URL, options_.url.c_str());
  curl_easy_setopt(h, CURLOPT_CURLU, url_.get());
  curl_easy_setopt(h, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(h, CURLOPT_TCP_NODELAY, 1L);
  curl_easy_setopt(h, CURLOPT_BUFFERSIZE, receive_piece);
  curl_easy_setopt(h, CURLOPT_QUICK_EXIT, 1L);
  curl_easy_setopt(h, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(h, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);  // a proxy's head is not the server's
  curl_easy_setopt(h, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(options_.connect_timeout.count()));
  if (options_.http2) curl_easy_setopt(h, CURLOPT_PIPEWAIT, 1L);
  apply_transport_options(h, options_);
  return handle;
}

void HandlePool::give_back(CurlHandle handle) {
  if (!handle || !has_been_connected(handle.get())) return;
  if (handle.get_deleter().trust != options_.trust) return;
  idle_.push_back(std::move(handle));
  if (idle_.size() <= max_idle || surplus_timer_.is_set()) return;
  unused_ = idle_.size();
  surplus_timer_.set_after(surplus_time);
}

/// Destroys handles that were unused since the timer was set: after a burst all but a few.
void HandlePool::drop_surplus() {
  const std::size_t spare = idle_.size() - std::min(idle_.size(), max_idle);
  const std::size_t dropped = std::min(unused_, spare);
  idle_.erase(idle_.begin(), idle_.begin() + static_cast<std::ptrdiff_t>(dropped));
  budget_.note_freed(dropped * receive_piece);
  if (idle_.size() <= max_idle) return;
  unused_ = idle_.size();
  surplus_timer_.set_after(surplus_time);
}

namespace {

/// For larger bodies (1 MiB in 7.88 and 8.14) curl first asks the server whether it wants the body,
/// unless told not to.
constexpr std::size_t asked_before = 64u << 10;
const std::vector<std::string> no_question{"Expect:"};

}  // namespace

HttpContext::HttpContext(CurlLoop& curl, HttpOptions options, AccessToken& token,
                         std::string_view token_origin, ByteBudget& budget, Log& log)
    : curl_(curl),
      options_(std::move(options)),
      token_(token),
      token_origin_(token_origin),
      budget_(budget),
      log_(log),
      url_secrets_(secrets_of_url(options_.url)),
      handles_(curl, options_, budget),
      room_(budget) {}

bool HttpContext::pauses_stream(const HttpTransfer& stream, std::size_t pending) {
  has_paused_stream_ =
      budget_.is_too_full_for(pending) && !options_.http2 && !stream.head().is_encoded();
  if (has_paused_stream_) budget_.await_room();
  return has_paused_stream_;
}

void HttpContext::append_common_headers(HeaderList& list) const {
  append_header(list, "User-Agent: mcp-bridged/" MCP_BRIDGE_VERSION);
  if (fits_header(token_.text(), header_limit::token))
    append_header(list, "Authorization: Bearer " + token_.text());
}

void HttpContext::append_session_headers(HeaderList& list) const {
  append_checked(list, "MCP-Protocol-Version", protocol_version_, header_limit::protocol_version);
  append_checked(list, "Mcp-Session-Id", session_id_, header_limit::session_id);
}

void HttpContext::append_configured_headers(HeaderList& list) const {
  for (const std::string& header : options_.headers) append_header(list, header);
}

void HttpContext::forget_headers() {
  post_headers_.reset();
  stateless_headers_.reset();
}

// For each POST curl searches the list for ten names, so the list is short, and names that it finds
// come first.
HeaderList HttpContext::post_headers(const Outgoing& message) {
  if (headers_token_ != token_.generation()) {
    headers_token_ = token_.generation();
    forget_headers();
  }
  const bool is_beside = message.opens_session && !session_id_.empty();
  HeaderList opening;
  HeaderList& list = is_beside                ? opening
                     : message.notes.stateful ? post_headers_
                                              : stateless_headers_;
  if (!list) {
    append_header(list, "Accept: application/json, text/event-stream");
    append_header(list, "Content-Type: application/json");
    append_header(list, "Accept-Encoding: identity");
    append_common_headers(list);
    if (message.notes.stateful) {
      if (!is_beside) append_session_headers(list);
    } else {
      append_checked(list, "MCP-Protocol-Version", stateless_version_,
                     header_limit::protocol_version);
    }
    append_configured_headers(list);
  }
  return message.body.size() < asked_before ? list : with_lines(no_question, list);
}

HeaderList HttpContext::stream_headers(const std::string& last_event_id) const {
  HeaderList list;
  append_header(list, "Accept: text/event-stream");
  append_common_headers(list);
  append_session_headers(list);
  append_configured_headers(list);
  append_checked(list, "Last-Event-ID", last_event_id, header_limit::event_id, Blanks::inside);
  return list;
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

void HttpContext::set_stateless_version(std::string version) {
  if (version == stateless_version_) return;
  stateless_version_ = std::move(version);
  stateless_headers_.reset();
}

void HttpContext::reconfigure(const HttpOptions& options) {
  options_.headers = options.headers;
  options_.connect_timeout = options.connect_timeout;
  options_.request_timeout = options.request_timeout;
  options_.request_max = options.request_max;
  options_.pause_timeout = options.pause_timeout;
  options_.stream_retries = options.stream_retries;
  // Another file name is a changed option, which needs a restart.
  if (options.ca_file == options_.ca_file &&
      options.client_certificate == options_.client_certificate &&
      options.client_key == options_.client_key) {
    options_.trust = options.trust;
  }
  handles_.clear();
  forget_headers();
}

bool HttpContext::refuse_token(int generation, const HttpTransfer& transfer) {
  const bool is_public = options_.proxy.empty() && transfer.is_peer_public();
  return token_.refused(generation,
                        {transfer.head().status, transfer.head().www_authenticate, is_public});
}

bool HttpContext::offers_login() const {
  return token_.login() != nullptr && token_.login()->is_login_offered();
}

const std::string& HttpContext::login_command() const { return token_.login()->command(); }

bool HttpContext::lacks_token() const { return token_.login() != nullptr && !offers_login(); }

void HttpContext::forget_session() {
  session_id_.clear();
  protocol_version_.clear();
  post_headers_.reset();
}

void HttpContext::set_endpoint(const std::string& url) {
  endpoint_ = url;
  handles_.set_url(post_url());
}

std::vector<std::string> HttpContext::secrets() const {
  std::vector<std::string> secrets = token_.secrets();
  secrets.push_back(session_id_);
  secrets.insert(secrets.end(), url_secrets_.begin(), url_secrets_.end());
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
