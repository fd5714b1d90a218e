#pragma once

#include <algorithm>
#include <array>
#include <string>

#include "downstream/unix/outbox.hpp"

namespace bridge {

/// One write to a socket that takes at most `limit` bytes; returns what it took.
inline std::string write(Outbox& outbox, std::size_t limit) {
  std::array<iovec, 64> pieces;
  const std::size_t count = outbox.gather(pieces.data(), pieces.size());
  std::string taken;
  for (std::size_t i = 0; i < count; ++i) {
    taken.append(static_cast<const char*>(pieces[i].iov_base), pieces[i].iov_len);
  }
  taken.resize(std::min(taken.size(), limit));
  outbox.consume(taken.size());
  return taken;
}

/// Writes until there is nothing more to write.
inline std::string write_all(Outbox& outbox) {
  std::string all;
  for (std::string part = write(outbox, SIZE_MAX); !part.empty(); part = write(outbox, SIZE_MAX))
    all += part;
  return all;
}

}  // namespace bridge
