#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bridge {

/// Scopes are words separated by spaces (RFC 6749, section 3.3). Those of `first`, then those of
/// `second` that are not among them.
std::string joined_scopes(const std::string& first, const std::string& second);

/// Whether it is one of them.
bool has_scope(const std::string& scopes, std::string_view one);

std::string scope_of(const std::vector<std::string>& scopes);

}  // namespace bridge
