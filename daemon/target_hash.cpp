#include "target_hash.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <string>

namespace bridge {
namespace {

std::string without_userinfo(std::string url) {
  const auto begin = url.find("://");
  if (begin == url.npos) return url;
  const auto host = begin + 3;
  const auto end = std::min(url.find_first_of("/?#", host), url.size());
  const auto at = url.rfind('@', end);
  if (at != url.npos && at >= host && at < end) url.erase(host, at + 1 - host);
  return url;
}

}  // namespace

TargetHash hash_of_target(const UpstreamOptions& options) {
  std::string name;
  const auto add = [&name](const std::string& part) { name.append(part).push_back('\0'); };
  if (options.kind == UpstreamKind::child) {
    add("command");
    add(options.child.folder);
    for (const std::string& word : options.child.command) add(word);
  } else {
    add("url");
    add(without_userinfo(options.http.url));
    add(options.http.unix_socket);
  }
  TargetHash hash{};
  unsigned size = 0;
  EVP_Digest(name.data(), name.size(), hash.data(), &size, EVP_sha256(), nullptr);
  return hash;
}

}  // namespace bridge
