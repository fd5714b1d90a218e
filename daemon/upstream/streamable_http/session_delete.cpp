#include "upstream/streamable_http/session_delete.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <utility>

namespace bridge {
namespace {

constexpr std::chrono::seconds delete_time{2};

}  // namespace

SessionDelete::SessionDelete(HttpContext& context, std::function<void()> done)
    : context_(context),
      done_(std::move(done)),
      deadline_(context_.now() + delete_time),
      transfer_(context.curl(), *this) {
  begin();
}

void SessionDelete::begin() {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - context_.now());
  CURL* const h = transfer_.prepare(context_.handles().take(), context_.stream_headers({}));
  set_get(h);
  curl_easy_setopt(h, CURLOPT_CUSTOMREQUEST, "DELETE");
  curl_easy_setopt(h, CURLOPT_TIMEOUT_MS, std::max(1L, static_cast<long>(left.count())));
  transfer_.start();
}

void SessionDelete::transfer_progressed(bool done, int result) {
  if (!done) return;
  if (result == CURLE_OK && transfer_.redirection().follow(context_.post_url(), transfer_.head())) {
    begin();
  } else {
    done_();
  }
}

}  // namespace bridge
