#include "text/characters.hpp"

#include <doctest/doctest.h>

#include <iterator>
#include <string>

using namespace bridge;

TEST_CASE("a text is cut before the character that does not fit") {
  CHECK(whole_characters("abc", 3) == "abc");
  CHECK(whole_characters("abc", 100) == "abc");
  CHECK(whole_characters("abc", 2) == "ab");
  CHECK(whole_characters("abc", 0).empty());
  CHECK(whole_characters("", 0).empty());
  const std::string text = "a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80z";  // of 1, 2, 3, 4 and 1 bytes
  const std::size_t fits[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11};
  for (std::size_t bytes = 0; bytes < std::size(fits); ++bytes) {
    CAPTURE(bytes);
    CHECK(whole_characters(text, bytes) == std::string_view(text).substr(0, fits[bytes]));
  }
}

TEST_CASE("of what is no UTF-8 as many bytes are left as are wanted") {
  const std::string continuations(100, '\x80');
  CHECK(whole_characters(continuations, 50).size() == 50);
  CHECK(whole_characters(continuations, 2).size() == 2);
  CHECK(whole_characters("a\x80\x80\x80\x80\x80\x80", 5).size() == 5);
}
