#include "base/random.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <vector>

#include "base/files.hpp"
#include "text/characters.hpp"

namespace bridge {
namespace {

/// Calls `read(place, size)` until all bytes are filled.
template <class Read>
bool fill_by(std::span<unsigned char> bytes, Read&& read) {
  while (!bytes.empty()) {
    const ssize_t got = read(bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) errno = EIO;
    if (got <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return true;
}

bool fill_from_kernel(std::span<unsigned char> bytes) {
  return fill_by(bytes, [](unsigned char* at, std::size_t size) { return getrandom(at, size, 0); });
}

bool fill_from_device(std::span<unsigned char> bytes) {
  const Descriptor device(open("/dev/urandom", O_RDONLY | O_CLOEXEC | O_NOCTTY));
  return device && fill_by(bytes, [&](unsigned char* at, std::size_t size) {
           return ::read(device.get(), at, size);
         });
}

}  // namespace

void fill_randomly(std::span<unsigned char> bytes, std::span<const RandomSource> sources) {
  for (const RandomSource source : sources) {
    if (source(bytes)) return;
  }
  throw std::system_error(errno, std::generic_category(), "no random numbers from the kernel");
}

void fill_randomly(std::span<unsigned char> bytes) {
  constexpr std::array<RandomSource, 2> sources{fill_from_kernel, fill_from_device};
  fill_randomly(bytes, sources);
}

std::string random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  fill_randomly({reinterpret_cast<unsigned char*>(bytes.data()), bytes.size()});
  return bytes;
}

std::string random_hex(std::size_t count) {
  std::vector<unsigned char> bytes(count);
  fill_randomly(bytes);
  return hex_of(bytes);
}

std::uint64_t random_number() {
  std::array<unsigned char, sizeof(std::uint64_t)> bytes{};
  fill_randomly(bytes);
  std::uint64_t number = 0;
  for (const unsigned char byte : bytes) number = number << 8 | byte;
  return number;
}

}  // namespace bridge
