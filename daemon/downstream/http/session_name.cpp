#include "downstream/http/session_name.hpp"

#include <sys/random.h>

#include <array>
#include <cassert>
#include <string_view>

namespace bridge {

std::string make_session_name() {
  std::array<unsigned char, 16> bytes{};
  // Up to 256 bytes come whole once the kernel has its first entropy.
  [[maybe_unused]] const ssize_t filled = getrandom(bytes.data(), bytes.size(), 0);
  assert(filled == static_cast<ssize_t>(bytes.size()));
  constexpr std::string_view digits = "0123456789abcdef";
  std::string name;
  for (const unsigned char byte : bytes) {
    name.push_back(digits[byte >> 4]);
    name.push_back(digits[byte & 15]);
  }
  return name;
}

}  // namespace bridge
