#include "upstream/http/goodbye.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <utility>

namespace bridge {
namespace {

constexpr std::chrono::seconds goodbye_time{2};

}  // namespace

struct Goodbye::Callbacks {
  static std::size_t header(char* data, std::size_t size, std::size_t count, void* self) {
    static_cast<Goodbye*>(self)->head_.line(std::string_view(data, size * count));
    return size * count;
  }

  static std::size_t body(char*, std::size_t size, std::size_t count, void*) {
    return size * count;
  }
};

Goodbye::Goodbye(HttpContext& context, std::function<void()> done)
    : context_(context),
      done_(std::move(done)),
      headers_(context.stream_headers({})),
      deadline_(std::chrono::steady_clock::now() + goodbye_time) {
  begin();
}

Goodbye::~Goodbye() {
  if (running_) context_.curl().remove(handle_.get(), *this);
}

void Goodbye::begin() {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      deadline_ - std::chrono::steady_clock::now());
  head_ = ResponseHead{};
  handle_ = context_.take_handle();
  CURL* const h = handle_.get();
  set_get(h, headers_);
  curl_easy_setopt(h, CURLOPT_CUSTOMREQUEST, "DELETE");
  curl_easy_setopt(h, CURLOPT_TIMEOUT_MS, std::max(1L, static_cast<long>(left.count())));
  set_receivers(h, &Callbacks::header, &Callbacks::body, this);
  redirection_.apply(h);
  running_ = true;
  context_.curl().add(h, *this);
}

void Goodbye::transfer_progressed(bool done, int result) {
  if (!done) return;
  running_ = false;
  if (result == CURLE_OK && redirection_.follow(context_.post_url(), head_)) {
    begin();
  } else {
    done_();
  }
}

}  // namespace bridge
