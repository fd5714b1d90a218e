#pragma once

#include <string>
#include <variant>

#include "auth/metadata.hpp"
#include "login/oauth_client.hpp"

namespace bridge {

/// The client metadata with which the bridge registers itself (RFC 7591, section 2; MCP
/// 2026-07-28, "Client Registration"): a native application, with a redirect URI of this machine.
/// `scope` may be empty. Pure.
std::string registration_request(const ServerMetadata& server, const std::string& redirect_uri,
                                 const std::string& scope);

/// The answer (RFC 7591, section 3.2), or why it is a refusal, in the server's words: neither
/// bounded nor printable yet.
std::variant<OAuthClient, std::string> read_registration(int status, const std::string& body,
                                                         const std::string& redirect_uri);

/// Where the server takes a secret: in the body only if it does not take Basic.
SecretPlace secret_place(const ServerMetadata& server);

}  // namespace bridge
