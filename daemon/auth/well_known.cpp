#include "auth/well_known.hpp"

#include "http/client/web_url.hpp"

namespace bridge {

std::vector<std::string> resource_metadata_urls(const std::string& resource) {
  const auto url = parse_web_url(resource);
  if (!url) return {};
  const std::string root = url->origin() + "/.well-known/oauth-protected-resource";
  std::vector<std::string> urls;
  if (url->path != "/") {
    urls.push_back(root + url->path);
    // Servers differ about a slash at the end.
    if (url->path.back() == '/') urls.push_back(root + url->path.substr(0, url->path.size() - 1));
  }
  urls.push_back(root);
  return urls;
}

std::vector<std::string> server_metadata_urls(const std::string& issuer) {
  const auto url = parse_web_url(issuer);
  if (!url || !url->query.empty() || url->has_fragment || url->has_user) return {};
  std::string path = url->path;
  if (path.back() == '/') path.pop_back();
  const std::string oauth = "/.well-known/oauth-authorization-server";
  const std::string openid = "/.well-known/openid-configuration";
  std::vector<std::string> urls{url->origin() + oauth + path, url->origin() + openid + path};
  if (!path.empty()) urls.push_back(url->origin() + path + openid);
  return urls;
}

}  // namespace bridge
