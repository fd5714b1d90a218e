#pragma once

#include <optional>
#include <string>

#include "http/client/web_url.hpp"
#include "text/header_text.hpp"

namespace bridge {

/// A URL that a server has named for what is secret, if it can be one: https, or http to this very
/// machine; of bounded length, nothing in it that could not stand in a request, no userinfo. Pure.
inline std::optional<WebUrl> endpoint_url(const std::string& said) {
  auto url = fits_header(said, header_limit::url) ? parse_web_url(said) : std::nullopt;
  if (!url || url->has_user || url->has_fragment || !is_trustworthy(*url)) return std::nullopt;
  return url;
}

}  // namespace bridge
