#include "http/character_reference.hpp"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

/// 0: there is none.
std::uint32_t code_point_of(std::string_view text) {
  const auto reference = read_character_reference(text);
  return reference ? reference->code_point : 0;
}

std::size_t length_of(std::string_view text) {
  const auto reference = read_character_reference(text);
  return reference ? reference->length : 0;
}

}  // namespace

TEST_CASE("a number names a character, in decimal or hexadecimal") {
  CHECK(code_point_of("&#39;") == '\'');
  CHECK(code_point_of("&#0000000000000000039;") == '\'');
  CHECK(code_point_of("&#x27;") == '\'');
  CHECK(code_point_of("&#X1f600;") == 0x1F600);
  CHECK(code_point_of("&#x10FFFF;") == 0x10FFFF);
  CHECK(length_of("&#39;s") == 5);
  CHECK(length_of("&#39s") == 4);  // the semicolon may be missing
  CHECK(length_of("&#x27s") == 5);
}

TEST_CASE("a number that is no character is the replacement character") {
  for (const char* number : {"&#0;", "&#xD800;", "&#57343;", "&#x110000;",
                             "&#99999999999999999999;", "&#xffffffffffffffffff;"}) {
    CAPTURE(number);
    CHECK(code_point_of(number) == 0xFFFD);
    CHECK(length_of(number) == std::string_view(number).size());
  }
}

TEST_CASE("numbers of C1 are read as Windows-1252, other controls as they are") {
  CHECK(code_point_of("&#128;") == 0x20AC);
  CHECK(code_point_of("&#146;") == 0x2019);
  CHECK(code_point_of("&#x9F;") == 0x0178);
  CHECK(code_point_of("&#129;") == 129);
  CHECK(code_point_of("&#27;") == 27);
}

TEST_CASE("common names are known, with their semicolon and in their case") {
  CHECK(code_point_of("&amp;lt;") == '&');
  CHECK(length_of("&amp;lt;") == 5);
  CHECK(code_point_of("&nbsp;") == 0xA0);
  CHECK(code_point_of("&frac14;") == 0xBC);
  CHECK(code_point_of("&Agrave;") == 0xC0);
  CHECK(code_point_of("&agrave;") == 0xE0);
  CHECK(code_point_of("&yuml;") == 0xFF);
  CHECK(code_point_of("&rsaquo;") == 0x203A);
}

TEST_CASE("what is no reference is none") {
  for (const char* text : {"", "&", "x&amp;", "&;", "&amp", "&amp amp;", "&unknown;", "&Hellip;",
                           "&#", "&#;", "&#x", "&#x;", "&#a;", "&#-1;", "&longest;name;"}) {
    CAPTURE(text);
    CHECK(code_point_of(text) == 0);
  }
}
