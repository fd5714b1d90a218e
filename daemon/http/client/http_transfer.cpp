#include "http/client/http_transfer.hpp"

#include <curl/curl.h>

#include <utility>

#include "http/client/http_options.hpp"
#include "http/client/web_url.hpp"
#include "text/header_text.hpp"

namespace bridge {
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
    transfer.receiver_.head_line_received(complete);
    return size * count;
  }

  static std::size_t body(char* data, std::size_t size, std::size_t count, void* self) {
    auto& transfer = *static_cast<HttpTransfer*>(self);
    if (std::exchange(transfer.state_, State::body) == State::head)
      transfer.receiver_.body_begins();
    if (transfer.receiver_.has_enough()) {
      transfer.has_more_ = true;
      return CURL_WRITEFUNC_PAUSE;
    }
    const std::string_view bytes(data, size * count);
    return transfer.receiver_.body_received(bytes) ? bytes.size() : 0;
  }
};

CurlHandle HttpTransfer::make_handle(std::shared_ptr<const TrustFiles> trust) {
  static_assert(std::tuple_size_v<CurlErrorText> >= CURL_ERROR_SIZE);
  CurlHandle handle(curl_easy_init(),
                    CurlCleanup{std::move(trust), std::make_unique<CurlErrorText>()});
  CURL* const h = handle.get();
  curl_easy_setopt(h, CURLOPT_ERRORBUFFER, handle.get_deleter().error_text->data());
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
  if (redirection_.is_elsewhere()) handle_.reset();
  return std::move(handle_);
}

void HttpTransfer::pause(bool paused) {
  if (!paused) has_more_ = false;
  if (is_running()) curl_.pause(handle_.get(), paused);
}

void HttpTransfer::go_on() {
  if (has_more_) pause(false);
}

bool HttpTransfer::is_peer_public() const {
  const char* address = nullptr;
  if (!handle_) return false;
  curl_easy_getinfo(handle_.get(), CURLINFO_PRIMARY_IP, &address);
  return address != nullptr && is_public_address(address);
}

bool HttpTransfer::keep_body(std::string_view bytes, std::size_t limit) {
  if (body_.size() + bytes.size() > limit) return false;
  body_.append(bytes, limit);
  return true;
}

void HttpTransfer::transfer_progressed(bool done, int result) {
  if (done) state_ = State::idle;
  receiver_.transfer_progressed(done, result);
}

}  // namespace bridge
