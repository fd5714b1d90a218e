#include "http/client/http_options.hpp"

#include <curl/curl.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string_view>

#include "base/files.hpp"
#include "base/start_error.hpp"
#include "text/loopback.hpp"

namespace bridge {

HeldFile::HeldFile(const std::string& content)
    : descriptor_(memfd_create("mcp-bridged", MFD_CLOEXEC)),
      path_(fmt::format("/proc/self/fd/{}", descriptor_)) {
  if (descriptor_ >= 0 && write_all(descriptor_, content)) return;
  const int error = errno;
  if (descriptor_ >= 0) close(descriptor_);
  throw StartError(exit_code::configuration,
                   fmt::format("a certificate cannot be kept in memory: {}", std::strerror(error)));
}

HeldFile::~HeldFile() { close(descriptor_); }

namespace {

bool can_be_read(const std::string& file) {
  return !file.empty() && access(file.c_str(), R_OK) == 0;
}

}  // namespace

const std::vector<std::string>& known_ca_files() {
  static const std::vector<std::string> files = {
      "/etc/ssl/certs/ca-certificates.crt",                 // Debian, Ubuntu, Arch
      "/etc/ssl/cert.pem",                                  // Alpine
      "/etc/pki/tls/certs/ca-bundle.crt",                   // Fedora
      "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // RHEL
      "/etc/ssl/ca-bundle.pem",                             // openSUSE
  };
  return files;
}

std::string choose_ca_file(std::string_view usual, const std::vector<std::string>& known,
                           const std::string& own) {
  if (can_be_read(std::string(usual))) return {};
  for (const std::string& file : known) {
    if (can_be_read(file)) return file;
  }
  return can_be_read(own) ? own : std::string();
}

std::string shipped_ca_file(std::string_view library) {
  const std::size_t folder = library.rfind("/lib/");
  if (folder == library.npos) return {};
  return std::string(library.substr(0, folder)) + "/share/mcp-session-bridge/ca-certificates.crt";
}

std::string find_ca_file() {
  const curl_version_info_data* const library = curl_version_info(CURLVERSION_NOW);
  const char* const usual = library->cainfo;
  // Not by the program: one that was upgraded in place is a file in memory.
  Dl_info file{};
  const bool found = dladdr(library, &file) != 0 && file.dli_fname != nullptr;
  return choose_ca_file(usual == nullptr ? "" : usual, known_ca_files(),
                        shipped_ca_file(found ? file.dli_fname : ""));
}

namespace {

using Url = std::unique_ptr<CURLU, decltype(&curl_url_cleanup)>;

std::string part_of(const Url& url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url.get(), part, &text, flags) != CURLUE_OK || text == nullptr) return {};
  std::string result(text);
  curl_free(text);
  return result;
}

std::string first_variable(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return value;
  }
  return {};
}

/// `http+unix://%2Frun%2Fx.sock/mcp`: the host is the socket's path; `@name`: an abstract one.
bool take_unix_socket(HttpOptions& options, std::string& url) {
  static const std::string scheme = "http+unix://";
  if (url.compare(0, scheme.size(), scheme) != 0) return true;
  const std::size_t end = url.find('/', scheme.size());
  const std::string host =
      url.substr(scheme.size(), end == url.npos ? url.npos : end - scheme.size());
  int length = 0;
  char* path = curl_easy_unescape(nullptr, host.c_str(), static_cast<int>(host.size()), &length);
  if (path == nullptr) return false;
  options.unix_socket.assign(path, static_cast<std::size_t>(length));
  curl_free(path);
  url = "http://localhost" + (end == url.npos ? std::string("/") : url.substr(end));
  return !options.unix_socket.empty() && options.unix_socket != "@" &&
         options.unix_socket.find('\0') == options.unix_socket.npos;
}

}  // namespace

std::string set_url(HttpOptions& options, const std::string& given) {
  options.url = given;
  options.unix_socket.clear();
  if (!take_unix_socket(options, options.url)) return "the socket's path in the URL cannot be read";
  if (options.unix_socket.size() >= sizeof sockaddr_un::sun_path)
    return "the socket's path in the URL is longer than a Unix socket's can be (107 bytes)";
  const Url url(curl_url(), &curl_url_cleanup);
  // curl would take the first part of the path for the missing host.
  if (options.url.find(":///") != options.url.npos ||
      curl_url_set(url.get(), CURLUPART_URL, options.url.c_str(), 0) != CURLUE_OK) {
    return "not a URL; expected http://HOST[:PORT]/PATH or https://…";
  }
  const std::string scheme = part_of(url, CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https") return "only http, https and http+unix are supported";
  const std::string host = part_of(url, CURLUPART_HOST);
  const std::string port = part_of(url, CURLUPART_PORT);
  options.target = options.unix_socket.empty()
                       ? scheme + "://" + host + (port.empty() ? "" : ":" + port)
                       : "unix:" + options.unix_socket;
  options.target += part_of(url, CURLUPART_PATH);
  if (options.unix_socket.empty()) {
    options.proxy = scheme == "https"
                        ? first_variable({"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"})
                        : first_variable({"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"});
    options.no_proxy = first_variable({"no_proxy", "NO_PROXY"});
  }
  return {};
}

std::string same_origin_url(const std::string& base, const std::string& location) {
  const Url from(curl_url(), &curl_url_cleanup);
  const Url to(curl_url(), &curl_url_cleanup);
  if (curl_url_set(from.get(), CURLUPART_URL, base.c_str(), 0) != CURLUE_OK ||
      curl_url_set(to.get(), CURLUPART_URL, base.c_str(), 0) != CURLUE_OK ||
      curl_url_set(to.get(), CURLUPART_URL, location.c_str(), 0) != CURLUE_OK) {
    return {};
  }
  for (const CURLUPart part : {CURLUPART_SCHEME, CURLUPART_HOST, CURLUPART_PORT}) {
    if (part_of(from, part, CURLU_DEFAULT_PORT) != part_of(to, part, CURLU_DEFAULT_PORT)) return {};
  }
  return part_of(to, CURLUPART_URL);
}

bool is_local(const HttpOptions& options) {
  if (!options.unix_socket.empty()) return true;
  const Url url(curl_url(), &curl_url_cleanup);
  if (curl_url_set(url.get(), CURLUPART_URL, options.url.c_str(), 0) != CURLUE_OK) return false;
  return is_loopback_host(part_of(url, CURLUPART_HOST));
}

}  // namespace bridge
