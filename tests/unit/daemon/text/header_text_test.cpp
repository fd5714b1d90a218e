#include "text/visible_text.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace bridge;

TEST_CASE("visible ASCII up to the limit may stand in a header") {
  std::string all;
  for (int c = 0x21; c < 0x7F; ++c) all += static_cast<char>(c);
  CHECK(fits_header(all, all.size()));
  CHECK_FALSE(fits_header(all, all.size() - 1));
  CHECK(fits_header("x", 1));
  CHECK_FALSE(fits_header("", 100));
}

TEST_CASE("nothing else may, wherever it stands") {
  for (int c = 0; c < 256; ++c) {
    if (c >= 0x20 && c < 0x7F) continue;
    CAPTURE(c);
    for (const std::size_t at : {0U, 1U, 2U}) {
      std::string text = "ab";
      text.insert(at, 1, static_cast<char>(c));
      CHECK_FALSE(fits_header(text, 100));
      CHECK_FALSE(fits_header(text, 100, Blanks::inside));
    }
  }
}

TEST_CASE("blanks may stand between other characters where that is said") {
  CHECK_FALSE(fits_header("a b", 100));
  CHECK(fits_header("a  b", 100, Blanks::inside));
  for (const char* text : {" a", "a ", " "}) CHECK_FALSE(fits_header(text, 100, Blanks::inside));
}
