#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

/// Aborts with a report if an invariant does not hold; unlike assert in every build type.
#define MUST(condition)                                                    \
  do {                                                                     \
    if (!(condition)) {                                                    \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                        \
    }                                                                      \
  } while (false)

/// Feeds `bytes` in chunks whose sizes are taken from the `plan`, cyclically.
template <class Feed>
void feed_in_chunks(std::string_view bytes, std::string_view plan, Feed&& feed) {
  for (std::size_t step = 0; !bytes.empty(); ++step) {
    const std::size_t size =
        plan.empty() ? 1 : static_cast<unsigned char>(plan[step % plan.size()]) % 32 + 1;
    feed(bytes.substr(0, size));
    bytes.remove_prefix(size < bytes.size() ? size : bytes.size());
  }
}

/// Takes the limit and the chunk plan from the front of the input.
struct Input {
  Input(const std::uint8_t* data, std::size_t size)
      : bytes(reinterpret_cast<const char*>(data), size) {
    if (bytes.size() < 8) return;
    limit = static_cast<unsigned char>(bytes[0]) + 1u;
    plan = bytes.substr(1, 7);
    bytes.remove_prefix(8);
  }
  std::string_view bytes;
  std::string_view plan;
  std::size_t limit = 16;
};
