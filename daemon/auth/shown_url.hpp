#pragma once

#include <string>

#include "base/log.hpp"
#include "http/client/web_url.hpp"

namespace bridge {

/// A peer's URL for people and the log: without what may be secret in it.
inline std::string shown_url(const std::string& text) {
  const auto url = parse_web_url(text);
  return printable(url ? url->shown() : text, 300);
}

}  // namespace bridge
