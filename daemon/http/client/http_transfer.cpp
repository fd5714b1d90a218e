#include "http/client/http_transfer.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <utility>

#include "http/client/http_options.hpp"
#include "http/client/web_url.hpp"
#include "text/visible_text.hpp"

namespace bridge {
namespace {

constexpr long tcp_keep_alive_seconds = 30;
constexpr long large_upload_piece = 256L << 10;

}  // namespace

void CurlCleanup::operator()(CURL* handle) const { curl_easy_cleanup(handle); }

HeaderList with_lines(const std::vector<std::string>& lines, const HeaderList& list) {
  if (lines.empty()) return list;
  struct Chain {
    std::vector<curl_slist> items;
    HeaderList rest;
  };
  auto chain = std::make_shared<Chain>();
  chain->rest = list;
  chain->items.resize(lines.size());
  curl_slist* next = list.get();
  for (std::size_t i = lines.size(); i-- > 0;) {
    chain->items[i].data = const_cast<char*>(lines[i].c_str());  // curl only reads it
    chain->items[i].next = std::exchange(next, &chain->items[i]);
  }
  return {chain, next};
}

void append_header(HeaderList& list, const std::string& line) {
  curl_slist* const head = curl_slist_append(list.get(), line.c_str());
  if (!list) list = HeaderList(head, &curl_slist_free_all);
}

void append_checked(HeaderList& list, std::string_view name, const std::string& said,
                    std::size_t limit, Blanks blanks) {
  if (!fits_header(said, limit, blanks)) return;
  append_header(list, fmt::format("{}: {}", name, said));
}

namespace {

void set_trust(CURL* handle, const TrustFiles& trust) {
  if (trust.authorities) {
    curl_easy_setopt(handle, CURLOPT_CAINFO, trust.authorities->path().c_str());
    curl_easy_setopt(handle, CURLOPT_CAPATH, nullptr);  // otherwise the system's are trusted too
#if LIBCURL_VERSION_NUM >= 0x075700
    // The cache is keyed by path, which another file may have later.
    curl_easy_setopt(handle, CURLOPT_CA_CACHE_TIMEOUT, 0L);
#endif
  }
  if (trust.certificate)
    curl_easy_setopt(handle, CURLOPT_SSLCERT, trust.certificate->path().c_str());
  if (trust.key) curl_easy_setopt(handle, CURLOPT_SSLKEY, trust.key->path().c_str());
}

}  // namespace

void apply_transport_options(CURL* handle, const HttpOptions& options) {
  // At once, because curl sets it when it connects: any connection may carry a stream later.
  curl_easy_setopt(handle, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(handle, CURLOPT_TCP_KEEPIDLE, tcp_keep_alive_seconds);
  curl_easy_setopt(handle, CURLOPT_TCP_KEEPINTVL, tcp_keep_alive_seconds);
  curl_easy_setopt(handle, CURLOPT_PROXY, options.proxy.c_str());
  curl_easy_setopt(handle, CURLOPT_NOPROXY, options.no_proxy.c_str());
  curl_easy_setopt(handle, CURLOPT_HTTP_VERSION,
                   options.http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1);
  if (options.unix_socket.starts_with('@')) {
    curl_easy_setopt(handle, CURLOPT_ABSTRACT_UNIX_SOCKET, options.unix_socket.c_str() + 1);
  } else if (!options.unix_socket.empty()) {
    curl_easy_setopt(handle, CURLOPT_UNIX_SOCKET_PATH, options.unix_socket.c_str());
  }
  if (options.ca_file.empty() && !options.system_ca_file.empty())
    curl_easy_setopt(handle, CURLOPT_CAINFO, options.system_ca_file.c_str());
  if (options.trust) set_trust(handle, *options.trust);
  if (options.insecure) {
    curl_easy_setopt(handle, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(handle, CURLOPT_SSL_VERIFYHOST, 0L);
  }
}

void set_get(CURL* handle) {
  curl_easy_setopt(handle, CURLOPT_HTTPGET, 1L);
  curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, nullptr);
}

void set_stream(CURL* handle) {
  set_get(handle);
  curl_easy_setopt(handle, CURLOPT_MAXAGE_CONN, 4L);
}

void set_large_upload(CURL* handle) {
  curl_easy_setopt(handle, CURLOPT_UPLOAD_BUFFERSIZE, large_upload_piece);
}

std::uint64_t connections_opened(CURL* handle) {
  long count = 0;
  curl_easy_getinfo(handle, CURLINFO_NUM_CONNECTS, &count);
  return static_cast<std::uint64_t>(count);
}

namespace {

constexpr int max_hops = 5;

}  // namespace

bool Redirection::follow(const std::string& url, const ResponseHead& head) {
  if (!head.complete || (head.status != 307 && head.status != 308) || head.location.empty() ||
      hops_ >= max_hops) {
    return false;
  }
  if (!fits_header(head.location, header_limit::url)) return false;
  std::string to = same_origin_url(place(url), head.location);
  if (to.empty()) return false;
  ++hops_;
  place_ = std::move(to);
  return true;
}

void Redirection::apply(CURL* handle) const {
  if (!is_elsewhere()) return;
  curl_easy_setopt(handle, CURLOPT_CURLU, nullptr);
  curl_easy_setopt(handle, CURLOPT_URL, place_.c_str());
}

struct HttpTransfer::Callbacks {
  static std::size_t header(char* data, std::size_t size, std::size_t count, void* self) {
    auto& transfer = *static_cast<HttpTransfer*>(self);
    const bool complete =
        transfer.head_.line(std::string_view(data, size * count), transfer.curl_.loop().clock());
    transfer.receiver_->head_line_received(complete);
    return complete && transfer.has_undecodable_body() ? 0 : size * count;
  }

  static std::size_t body(char* data, std::size_t size, std::size_t count, void* self) {
    auto& transfer = *static_cast<HttpTransfer*>(self);
    if (std::exchange(transfer.state_, State::body) == State::head)
      transfer.receiver_->body_begins();
    if (transfer.receiver_->has_enough()) {
      transfer.has_more_ = true;
      return CURL_WRITEFUNC_PAUSE;
    }
    const std::string_view bytes(data, size * count);
    return transfer.receiver_->body_received(bytes) ? bytes.size() : 0;
  }
};

CurlHandle HttpTransfer::make_handle(std::shared_ptr<const TrustFiles> trust) {
  static_assert(std::tuple_size_v<CurlErrorText> >= CURL_ERROR_SIZE);
  CurlHandle handle(curl_easy_init(),
                    CurlCleanup{std::move(trust), std::make_unique<CurlErrorText>()});
  CURL* const h = handle.get();
  curl_easy_setopt(h, CURLOPT_ERRORBUFFER, handle.get_deleter().error_text->data());
  // Decoding is on if any coding is asked for.
  curl_easy_setopt(h, CURLOPT_ACCEPT_ENCODING, "identity");
  curl_easy_setopt(h, CURLOPT_HEADERFUNCTION, &Callbacks::header);
  curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, &Callbacks::body);
  return handle;
}

CURL* HttpTransfer::prepare(CurlHandle handle, HeaderList headers) {
  handle_ = std::move(handle);
  headers_ = std::move(headers);
  head_.clear();
  body_.clear();
  handle_.get_deleter().error_text->front() = '\0';
  CURL* const h = handle_.get();
  curl_easy_setopt(h, CURLOPT_HTTPHEADER, headers_.get());
  curl_easy_setopt(h, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(h, CURLOPT_WRITEDATA, this);
  redirection_.apply(h);
  return h;
}

void HttpTransfer::start() {
  state_ = State::head;
  has_more_ = false;
  curl_.add(handle_.get(), *this);
}

CurlHandle HttpTransfer::close() {
  if (std::exchange(state_, State::idle) != State::idle) curl_.remove(handle_.get(), *this);
  if (handle_) was_peer_public_ = head_.refuses_token() && is_peer_public();
  if (redirection_.is_elsewhere()) handle_.reset();
  return std::move(handle_);
}

void HttpTransfer::pause(bool paused) {
  if (!paused) has_more_ = false;
  if (is_running()) curl_.pause(handle_.get(), paused);
}

void HttpTransfer::proceed() {
  if (has_more_) pause(false);
}

bool HttpTransfer::is_peer_public() const {
  if (!handle_) return was_peer_public_;
  const char* address = nullptr;
  curl_easy_getinfo(handle_.get(), CURLINFO_PRIMARY_IP, &address);
  return address != nullptr && is_public_address(address);
}

bool HttpTransfer::keep_body(std::string_view bytes, std::size_t limit) {
  if (body_.size() + bytes.size() > limit) return false;
  body_.append(bytes, limit);
  return true;
}

int HttpTransfer::transfer_over(int result) {
  state_ = State::idle;
  const bool is_undecodable = result == CURLE_WRITE_ERROR && has_undecodable_body();
  return is_undecodable ? static_cast<int>(CURLE_BAD_CONTENT_ENCODING) : result;
}

}  // namespace bridge
