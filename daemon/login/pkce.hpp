#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bridge {

/// 256 bits that nobody can guess, as 43 characters of base64url: a `state`, a code verifier.
/// Nothing if OpenSSL has no randomness.
std::optional<std::string> unguessable_text();

/// The S256 challenge of a code verifier (RFC 7636, section 4.2). Pure.
std::string code_challenge(std::string_view verifier);

}  // namespace bridge
