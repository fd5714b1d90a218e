#pragma once

#include <string>
#include <vector>

namespace bridge {

/// Where the metadata of a protected resource are looked for, in this order: RFC 9728, section 3.1,
/// then the root of its origin. Empty if `resource` is no URL. Pure, as the next one.
std::vector<std::string> resource_metadata_urls(const std::string& resource);

/// Where those of an authorization server are: RFC 8414, section 3.1, and OpenID Connect Discovery
/// 1.0, section 4, each with the path after the well-known part, and the latter also before it.
/// Empty if `issuer` cannot be one.
std::vector<std::string> server_metadata_urls(const std::string& issuer);

}  // namespace bridge
