#pragma once

#include <optional>
#include <string>
#include <string_view>
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

  // Of a server at which a person logs in; empty: there is none, or it is not said.
  std::string authorization_endpoint{};
  std::string registration_endpoint{};          ///< RFC 7591
  std::string device_authorization_endpoint{};  ///< RFC 8628
  std::string revocation_endpoint{};            ///< RFC 7009
  std::vector<std::string> code_challenge_methods{};
  std::vector<std::string> scopes_supported{};
  bool answers_name_issuer = false;       ///< RFC 9207
  bool takes_metadata_documents = false;  ///< a client id may be the URL of the client's metadata
};

/// Nothing if the text is no JSON object. Members that are missing or of another type are empty; of
/// an array the first 64 strings count. Pure.
std::optional<ResourceMetadata> read_resource_metadata(const std::string& text);
std::optional<ServerMetadata> read_server_metadata(const std::string& text);

/// What MCP 2025-03-26, "Fallbacks for Servers without Metadata Discovery", says of a server that
/// says nothing: `/authorize`, `/token` and `/register` at its origin, which is its issuer. It
/// names S256, since that revision requires PKCE of every client and OAuth 2.1 requires S256 of
/// every server. Pure.
ServerMetadata default_server_metadata(const std::string& origin);

/// Whether client_secret_post is to be used: only if the server takes it and not Basic, which is
/// what it takes if it says nothing.
bool wants_secret_in_body(const ServerMetadata& server);

/// Whether it is one of those that a document names.
bool is_named(const std::vector<std::string>& list, std::string_view one);

/// Whether all of it is one JSON object.
bool is_json_object(const std::string& text);

}  // namespace bridge
