#include "http/client/web_url.hpp"

#include <arpa/inet.h>
#include <curl/curl.h>

#include <memory>

namespace bridge {
namespace {

bool is_loopback(const std::string& host) {
  in_addr address{};
  if (inet_pton(AF_INET, host.c_str(), &address) == 1) return ntohl(address.s_addr) >> 24 == 127;
  return host == "localhost" || host == "[::1]";
}

std::string without_slashes_at_end(std::string path) {
  while (!path.empty() && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

std::optional<WebUrl> parse_web_url(const std::string& text) {
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> parsed(curl_url(), &curl_url_cleanup);
  if (text.find('\0') != text.npos ||
      curl_url_set(parsed.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) {
    return std::nullopt;
  }
  const auto part = [&](CURLUPart which) {
    char* found = nullptr;
    if (curl_url_get(parsed.get(), which, &found, CURLU_NO_DEFAULT_PORT) != CURLUE_OK)
      return std::string();
    std::string value(found);
    curl_free(found);
    return value;
  };
  WebUrl url;
  url.scheme = part(CURLUPART_SCHEME);
  url.host = part(CURLUPART_HOST);
  for (char& c : url.host) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  url.port = part(CURLUPART_PORT);
  url.path = part(CURLUPART_PATH);
  if (url.path.empty()) url.path = "/";
  url.query = part(CURLUPART_QUERY);
  url.has_fragment = text.find('#') != text.npos;
  url.has_user = !part(CURLUPART_USER).empty() || !part(CURLUPART_PASSWORD).empty();
  if ((url.scheme != "http" && url.scheme != "https") || url.host.empty()) return std::nullopt;
  return url;
}

bool is_trustworthy(const WebUrl& url) { return url.scheme == "https" || is_loopback(url.host); }

std::string resource_of(const std::string& upstream_url) {
  const auto url = parse_web_url(upstream_url);
  if (!url) return upstream_url;
  return url->path == "/" ? url->origin() : url->shown();
}

bool covers_resource(const std::string& named, const std::string& ours) {
  const auto theirs = parse_web_url(named);
  const auto own = parse_web_url(ours);
  if (!theirs || !own || theirs->has_fragment || theirs->has_user || theirs->query != own->query ||
      theirs->origin() != own->origin()) {
    return false;
  }
  const std::string beginning = without_slashes_at_end(theirs->path) + "/";
  return (without_slashes_at_end(own->path) + "/").starts_with(beginning);
}

}  // namespace bridge
