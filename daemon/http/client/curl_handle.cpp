#include "http/client/curl_handle.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include "http/client/trust_files.hpp"

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

void append_said(HeaderList& list, std::string_view name, const std::string& said,
                 std::size_t limit, Blanks blanks) {
  if (!fits_header(said, limit, blanks)) return;
  append_header(list, fmt::format("{}: {}", name, said));
}

namespace {

void set_trust(CURL* handle, const TrustFiles& trust) {
  if (trust.authorities) {
    curl_easy_setopt(handle, CURLOPT_CAINFO, trust.authorities->path().c_str());
    curl_easy_setopt(handle, CURLOPT_CAPATH, nullptr);  // else the system's are trusted as well
#if LIBCURL_VERSION_NUM >= 0x075700
    // What is kept is known by its path, which others may have later.
    curl_easy_setopt(handle, CURLOPT_CA_CACHE_TIMEOUT, 0L);
#endif
  }
  if (trust.certificate)
    curl_easy_setopt(handle, CURLOPT_SSLCERT, trust.certificate->path().c_str());
  if (trust.key) curl_easy_setopt(handle, CURLOPT_SSLKEY, trust.key->path().c_str());
}

}  // namespace

void apply_transport_options(CURL* handle, const HttpOptions& options) {
  curl_easy_setopt(handle, CURLOPT_PROXY, options.proxy.c_str());
  curl_easy_setopt(handle, CURLOPT_NOPROXY, options.no_proxy.c_str());
  curl_easy_setopt(handle, CURLOPT_HTTP_VERSION,
                   options.http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1);
  if (!options.unix_socket.empty())
    curl_easy_setopt(handle, CURLOPT_UNIX_SOCKET_PATH, options.unix_socket.c_str());
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
  set_tcp_keep_alive(handle);
}

void set_tcp_keep_alive(CURL* handle) {
  curl_easy_setopt(handle, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(handle, CURLOPT_TCP_KEEPIDLE, tcp_keep_alive_seconds);
  curl_easy_setopt(handle, CURLOPT_TCP_KEEPINTVL, tcp_keep_alive_seconds);
}

void clear_tcp_keep_alive(CURL* handle) { curl_easy_setopt(handle, CURLOPT_TCP_KEEPALIVE, 0L); }

void set_large_upload(CURL* handle) {
  curl_easy_setopt(handle, CURLOPT_UPLOAD_BUFFERSIZE, large_upload_piece);
}

std::uint64_t connections_opened(CURL* handle) {
  long count = 0;
  curl_easy_getinfo(handle, CURLINFO_NUM_CONNECTS, &count);
  return static_cast<std::uint64_t>(count);
}

}  // namespace bridge
