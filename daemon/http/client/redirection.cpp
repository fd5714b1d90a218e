#include "http/client/redirection.hpp"

#include <curl/curl.h>

#include <utility>

#include "http/client/http_options.hpp"
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

}  // namespace bridge
