#include "json/json_block.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>

#include "json/json_block_kinds.hpp"

using bridge::PlainBlocks;
using bridge::VectorCode;

namespace {

template <class Blocks>
void check_marked(std::string_view bytes) {
  std::uint64_t found = 0, plainly = 0;
  REQUIRE(Blocks::unmarked(bytes.data(), bytes.size(), found) ==
          PlainBlocks::unmarked(bytes.data(), bytes.size(), plainly));
  REQUIRE((found != 0) == (plainly != 0));
}

template <class Blocks>
void check_as_the_plain_code() {
  std::minstd_rand random(2);
  const std::string_view marks =
      "{}[]:,\"\\ \t\n\ra\x1f;[z|~\x80"
      "0109.-/:\x0c\x1a\x0d+@AFGafg`";
  for (int round = 0; round < 5000; ++round) {
    std::array<char, bridge::json_block> bytes{};
    for (char& byte : bytes)
      byte = round % 2 == 0 ? static_cast<char>(random()) : marks[random() % marks.size()];
    REQUIRE(Blocks::marks(bytes.data()) == PlainBlocks::marks(bytes.data()));
    REQUIRE(Blocks::tokens(bytes.data()) == PlainBlocks::tokens(bytes.data()));
    REQUIRE(Blocks::escapes(bytes.data()) == PlainBlocks::escapes(bytes.data()));
    REQUIRE(Blocks::hex_digits(bytes.data()) == PlainBlocks::hex_digits(bytes.data()));
    REQUIRE(Blocks::numbers(bytes.data()) == PlainBlocks::numbers(bytes.data()));
    const std::uint64_t bits = random() * std::uint64_t{0x9e3779b97f4a7c15};
    REQUIRE(Blocks::Bits::between(bits) == PlainBlocks::Bits::between(bits));
  }
  for (const char mark : {'"', '\\', '\x1f', '\0', ' ', '\x80'}) {
    for (std::size_t at = 0; at < 300; ++at) {
      std::string text(300, 'x');
      text[at] = mark;
      check_marked<Blocks>(text);
    }
  }
}

}  // namespace

TEST_CASE("what this processor runs is among what it can run") {
  CHECK(bridge::can_run(bridge::fastest_code()));
  CHECK(bridge::can_run(VectorCode::none));
}

#ifdef __x86_64__

TEST_CASE("each kind of vector code tells bytes apart as the plain code does") {
  if (bridge::can_run(VectorCode::sse2)) check_as_the_plain_code<bridge::Sse2Blocks>();
  if (bridge::can_run(VectorCode::avx2)) check_as_the_plain_code<bridge::Avx2Blocks>();
}

#endif
