#include "upstream/streamable_http/handle_pool.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <utility>

#include "http/client/http_transfer.hpp"

namespace bridge {
namespace {

constexpr std::size_t max_idle = 16;
/// What curl reads at once. The buffer stays with a handle.
constexpr long receive_piece = 64L << 10;
/// For so long more are kept that nobody uses.
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

CurlHandle HandlePool::take() {
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

/// Those that nobody has used since the timer was set: of a burst that is over all but a few.
void HandlePool::drop_surplus() {
  const std::size_t spare = idle_.size() - std::min(idle_.size(), max_idle);
  const std::size_t dropped = std::min(unused_, spare);
  idle_.erase(idle_.begin(), idle_.begin() + static_cast<std::ptrdiff_t>(dropped));
  budget_.note_freed(dropped * receive_piece);
  if (idle_.size() <= max_idle) return;
  unused_ = idle_.size();
  surplus_timer_.set_after(surplus_time);
}

}  // namespace bridge
