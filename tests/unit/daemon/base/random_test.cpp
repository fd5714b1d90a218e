#include "base/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <system_error>

using namespace bridge;

namespace {

bool fails(std::span<unsigned char> bytes) {
  // Half of what was asked for, as a source that breaks off.
  std::fill_n(bytes.begin(), bytes.size() / 2, static_cast<unsigned char>(0));
  errno = ENOSYS;
  return false;
}

bool fills(std::span<unsigned char> bytes) {
  std::fill(bytes.begin(), bytes.end(), static_cast<unsigned char>(7));
  return true;
}

}  // namespace

TEST_CASE("a source that fails gives nothing, and the next one all bytes") {
  std::array<unsigned char, 16> bytes{};
  fill_randomly(bytes, std::array<RandomSource, 2>{fails, fills});
  CHECK(std::count(bytes.begin(), bytes.end(), 7) == 16);
}

TEST_CASE("without random numbers there is no name") {
  std::array<unsigned char, 16> bytes{};
  const std::array<RandomSource, 2> none{fails, fails};
  CHECK_THROWS_AS(fill_randomly(bytes, none), std::system_error);
}

TEST_CASE("random names have the length that was asked for, and none is drawn twice") {
  std::set<std::string> names;
  std::set<std::uint64_t> numbers;
  for (int i = 0; i < 1000; ++i) {
    const std::string name = random_hex(16);
    CHECK(name.size() == 32);
    CHECK(name.find_first_not_of("0123456789abcdef") == name.npos);
    names.insert(name);
    numbers.insert(random_number());
  }
  CHECK(names.size() == 1000);
  CHECK(numbers.size() == 1000);
  CHECK(random_bytes(0).empty());
  CHECK(random_bytes(300).size() == 300);
}
