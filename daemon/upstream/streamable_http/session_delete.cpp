#include "upstream/streamable_http/session_delete.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <utility>

namespace bridge {
namespace {

constexpr std::chrono::seconds delete_time{2};

}  // namespace

struct SessionDelete::Callbacks {
  static std::size_t header(char* data, std::size_t size, std::size_t count, void* self) {
    static_cast<SessionDelete*>(self)->head_.line(std::string_view(data, size * count));
    return size * count;
  }

  static std::size_t body(char*, std::size_t size, std::size_t count, void*) {
    return size * count;
  }
};

SessionDelete::SessionDelete(HttpContext& context, std::function<void()> done)
    : context_(context),
      done_(std::move(done)),
      headers_(context.stream_headers({})),
      deadline_(context_.now() + delete_time) {
  begin();
}

SessionDelete::~SessionDelete() {
  if (running_) context_.curl().remove(handle_.get(), *this);
}

void SessionDelete::begin() {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - context_.now());
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

void SessionDelete::transfer_progressed(bool done, int result) {
  if (!done) return;
  running_ = false;
  if (result == CURLE_OK && redirection_.follow(context_.post_url(), head_)) {
    begin();
  } else {
    done_();
  }
}

}  // namespace bridge
