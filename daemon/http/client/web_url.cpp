#include "http/client/web_url.hpp"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>

#include "text/base64.hpp"
#include "text/characters.hpp"
#include "text/loopback.hpp"
#include "text/secret_forms.hpp"

namespace bridge {

namespace {

std::string without_slashes_at_end(std::string path) {
  while (!path.empty() && path.back() == '/') path.pop_back();
  return path;
}

using CurlUrl = std::unique_ptr<CURLU, decltype(&curl_url_cleanup)>;

/// Null if it is not a URL.
CurlUrl parse_curl_url(const std::string& text) {
  CurlUrl parsed(curl_url(), &curl_url_cleanup);
  if (text.find('\0') != text.npos ||
      curl_url_set(parsed.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) {
    parsed.reset();
  }
  return parsed;
}

/// Empty if it has none, or if it cannot be decoded (CURLU_URLDECODE).
std::string url_part(const CurlUrl& url, CURLUPart which, unsigned int flags) {
  char* found = nullptr;
  if (curl_url_get(url.get(), which, &found, flags) != CURLUE_OK) return {};
  std::string value(found);
  curl_free(found);
  return value;
}

}  // namespace

std::optional<WebUrl> parse_web_url(const std::string& text) {
  const CurlUrl parsed = parse_curl_url(text);
  if (!parsed) return std::nullopt;
  const auto part = [&](CURLUPart which) { return url_part(parsed, which, CURLU_NO_DEFAULT_PORT); };
  WebUrl url;
  url.scheme = part(CURLUPART_SCHEME);
  url.host = ascii_lower(part(CURLUPART_HOST));
  url.port = part(CURLUPART_PORT);
  url.path = part(CURLUPART_PATH);
  if (url.path.empty()) url.path = "/";
  url.query = part(CURLUPART_QUERY);
  url.has_fragment = text.find('#') != text.npos;
  url.has_user = !part(CURLUPART_USER).empty() || !part(CURLUPART_PASSWORD).empty();
  if ((url.scheme != "http" && url.scheme != "https") || url.host.empty()) return std::nullopt;
  return url;
}

std::vector<std::string> secrets_of_url(const std::string& text) {
  std::vector<std::string> secrets;
  const CurlUrl url = parse_curl_url(text);
  if (!url) return secrets;
  for (const unsigned int flags : {0u, unsigned{CURLU_URLDECODE}}) {
    const std::string user = url_part(url, CURLUPART_USER, flags);
    const std::string password = url_part(url, CURLUPART_PASSWORD, flags);
    if (user.empty() && password.empty()) continue;
    const std::string both = std::string(user).append(":").append(password);
    for (const std::string& secret : {both, base64(both), password.empty() ? user : password})
      secrets.push_back(secret);
  }
  const std::string query = url_part(url, CURLUPART_QUERY, 0);
  if (query.empty()) return secrets;
  secrets.push_back(query);
  for (std::string_view rest = query; !rest.empty();) {
    const std::string_view field = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(field.size() + 1, rest.size()));
    const auto separator = field.find('=');
    if (separator != field.npos && field.size() - separator > SecretForms::shortest)
      secrets.emplace_back(field.substr(separator + 1));
  }
  return secrets;
}

bool is_trustworthy(const WebUrl& url) {
  return url.scheme == "https" || is_loopback_host(url.host);
}

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

namespace {

struct Network {
  std::uint32_t begin;
  int bits;
};

// RFC 6890 and its registry: the networks that no public server is in.
constexpr std::array<Network, 15> inside = {{{0x00000000, 8},
                                             {0x0A000000, 8},
                                             {0x64400000, 10},
                                             {0x7F000000, 8},
                                             {0xA9FE0000, 16},
                                             {0xAC100000, 12},
                                             {0xC0000000, 24},
                                             {0xC0000200, 24},
                                             {0xC0586300, 24},
                                             {0xC0A80000, 16},
                                             {0xC6120000, 15},
                                             {0xC6336400, 24},
                                             {0xCB007100, 24},
                                             {0xE0000000, 4},
                                             {0xF0000000, 4}}};

bool is_public(std::uint32_t address) {
  return std::none_of(inside.begin(), inside.end(), [address](const Network& network) {
    return (address ^ network.begin) >> (32 - network.bits) == 0;
  });
}

std::uint32_t last_32_bits(const in6_addr& address, std::size_t at) {
  std::uint32_t bits = 0;
  for (std::size_t i = at; i < at + 4; ++i) bits = bits << 8 | address.s6_addr[i];
  return bits;
}

bool is_public(const in6_addr& address) {
  const auto* bytes = address.s6_addr;
  const bool begins_with_zeros =
      std::all_of(bytes, bytes + 10, [](std::uint8_t byte) { return byte == 0; });
  if (begins_with_zeros && bytes[10] == 0xFF && bytes[11] == 0xFF)
    return is_public(last_32_bits(address, 12));  // an IPv4 address (RFC 4291, section 2.5.5.2)
  constexpr std::array<std::uint8_t, 12> nat64 = {0x00, 0x64, 0xFF, 0x9B};
  if (std::equal(nat64.begin(), nat64.end(), bytes))
    return is_public(last_32_bits(address, 12));  // 64:ff9b::/96 (RFC 6052)
  if (bytes[0] == 0x20 && bytes[1] == 0x01 && bytes[2] < 0x02)
    return false;  // 2001::/23: IETF protocol assignments, Teredo among them (RFC 2928, RFC 4380)
  if (bytes[0] == 0x20 && bytes[1] == 0x01 && bytes[2] == 0x0D && bytes[3] == 0xB8)
    return false;  // for documents (RFC 3849)
  if (bytes[0] == 0x20 && bytes[1] == 0x02)
    return is_public(last_32_bits(address, 2));  // 6to4 (RFC 3056)
  return (bytes[0] & 0xE0) == 0x20;  // 2000::/3: all that is allocated (RFC 4291, section 2.4)
}

}  // namespace

bool is_public_address(const std::string& address) {
  in_addr v4{};
  if (inet_pton(AF_INET, address.c_str(), &v4) == 1) return is_public(ntohl(v4.s_addr));
  in6_addr v6{};
  const std::string without_zone = address.substr(0, address.find('%'));
  return inet_pton(AF_INET6, without_zone.c_str(), &v6) == 1 && is_public(v6);
}

bool is_public_address(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &address, sizeof v4);
    return is_public(ntohl(v4.sin_addr.s_addr));
  }
  if (address.sa_family != AF_INET6) return false;
  sockaddr_in6 v6{};
  std::memcpy(&v6, &address, sizeof v6);
  return is_public(v6.sin6_addr);
}

void append_field(std::string& form, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  if (!form.empty()) form += '&';
  form += percent_encoded(name);
  form += '=';
  form += percent_encoded(value);
}

std::string basic_credentials(std::string_view client_id, std::string_view secret) {
  return "Basic " + base64(percent_encoded(client_id) + ":" + percent_encoded(secret));
}

}  // namespace bridge
