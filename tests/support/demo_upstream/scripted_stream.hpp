#pragma once

#include <string>
#include <string_view>

#include "answer.hpp"

namespace demo {

/// The values of `$ID`, `$TOKEN` and `$SESSION` in a fault.
struct Placeholders {
  std::string id;
  std::string token;
  std::string session;

  std::string applied(std::string text) const;
};

/// The `sse` of an action, followed by the real response if requested.
Answer scripted_stream(std::string_view action, const Placeholders& values, Answer real,
                       bool then_real);

}  // namespace demo
