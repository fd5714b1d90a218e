#pragma once

#include <optional>
#include <string>
#include <vector>

namespace bridge {

/// What a protected resource says of itself (RFC 9728, section 2).
struct ResourceMetadata {
  std::string resource;
  std::vector<std::string> authorization_servers;
  std::vector<std::string> scopes_supported;
};

/// What an authorization server says of itself (RFC 8414, section 2).
struct ServerMetadata {
  std::string issuer;
  std::string token_endpoint;
  std::vector<std::string> token_endpoint_auth_methods;  ///< empty: not said
};

/// Nothing if the text is no JSON object. Members that are missing or of another type are empty; of
/// an array the first 64 strings count. Pure.
std::optional<ResourceMetadata> read_resource_metadata(const std::string& text);
std::optional<ServerMetadata> read_server_metadata(const std::string& text);

/// Whether client_secret_post is to be used: only if the server takes it and not Basic, which is
/// what it takes if it says nothing.
bool wants_secret_in_body(const ServerMetadata& server);

/// Whether all of it is one JSON object.
bool is_json_object(const std::string& text);

}  // namespace bridge
