#pragma once

#include <string>
#include <vector>

#include "auth/recent_secrets.hpp"
#include "base/log.hpp"

namespace bridge {

/// What a server says, for people: printable, bounded, and without what was sent to it.
inline std::string server_words(const std::string& text, const std::vector<std::string>& secrets) {
  return printable(redacted(text, secrets), 400);
}

}  // namespace bridge
