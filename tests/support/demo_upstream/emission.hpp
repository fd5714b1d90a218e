#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "session.hpp"

namespace demo {

/// A message that a test sends on the GET streams, once or many times.
struct Emission {
  struct Counts {
    std::size_t streams = 0;  ///< that got at least one
    std::size_t dropped = 0;
  };

  std::string text;  ///< in which `$N` is replaced by the count
  bool raw = false;  ///< bytes of the stream, else a message
  std::string event = "message";
  std::string session;  ///< empty: all
  std::int64_t count = 1;

  static std::optional<Emission> parse(std::string_view order);

  Counts put(const std::vector<std::shared_ptr<Session>>& sessions) const;
};

}  // namespace demo
