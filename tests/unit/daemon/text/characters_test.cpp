#include "text/characters.hpp"

#include <doctest/doctest.h>

#include <iterator>
#include <string>
#include "text/columns.hpp"
#include "text/trim.hpp"

using namespace bridge;

TEST_CASE("a text is cut before the character that does not fit") {
  CHECK(whole_characters("abc", 3) == "abc");
  CHECK(whole_characters("abc", 100) == "abc");
  CHECK(whole_characters("abc", 2) == "ab");
  CHECK(whole_characters("abc", 0).empty());
  CHECK(whole_characters("", 0).empty());
  const std::string text = "a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80z";  // of 1, 2, 3, 4 and 1 bytes
  const std::size_t fits[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11};
  for (std::size_t bytes = 0; bytes < std::size(fits); ++bytes)
    CHECK_MESSAGE(whole_characters(text, bytes) == std::string_view(text).substr(0, fits[bytes]),
                  bytes);
}

TEST_CASE("of what is no UTF-8 as many bytes are left as are wanted") {
  const std::string continuations(100, '\x80');
  CHECK(whole_characters(continuations, 50).size() == 50);
  CHECK(whole_characters(continuations, 2).size() == 2);
  CHECK(whole_characters("a\x80\x80\x80\x80\x80\x80", 5).size() == 5);
}

TEST_CASE("columns count wide and combining characters") {
  CHECK(display_width("abc") == 3);
  CHECK(display_width("\xE4\xB8\xAD\xE6\x96\x87") == 4);
  CHECK(display_width("e\xCC\x81") == 1);
  CHECK(fit_columns("\xE4\xB8\xAD\xE6\x96\x87", 3) == "\xE4\xB8\xAD");
  CHECK(fit_columns("abc", 0).empty());
}

TEST_CASE("text is wrapped at spaces with an indent") {
  CHECK(wrap("one two three", 0, 0) == "one two three");
  CHECK(wrap("aaaaaaaaaa bbbbbbbbb cccc", 2, 22) == "aaaaaaaaaa bbbbbbbbb\n  cccc");
  CHECK(wrap("a\nb", 2, 40) == "a\n  b");
  CHECK(wrap("  spaces   inside \n\n", 0, 40) == "spaces inside");
  CHECK(wrap(std::string(45, 'x'), 0, 20) ==
        std::string(20, 'x') + "\n" + std::string(20, 'x') + "\n" + std::string(5, 'x'));
  CHECK(wrap("", 4, 40).empty());
}

TEST_CASE("only the blanks at both ends go") {
  CHECK(trimmed(" \t\r\n a b \n") == "a b");
  CHECK(trimmed("a") == "a");
  CHECK(trimmed("").empty());
  CHECK(trimmed(" \n ").empty());
  CHECK(trimmed(" a\n", http_blanks) == "a\n");
  CHECK(trimmed("\va\f") == "\va\f");
  CHECK(trimmed(std::string_view("\0 a", 3)) == std::string_view("\0 a", 3));
}

TEST_CASE("letters are those of ASCII, whatever the locale") {
  CHECK(ascii_lower("MCP-Session-ID @[`{") == "mcp-session-id @[`{");
  CHECK(ascii_lower("\xC3\x84\xE2\x84\xAA") == "\xC3\x84\xE2\x84\xAA");
  CHECK(equal_ignoring_case("Host", "hOST"));
  CHECK_FALSE(equal_ignoring_case("@", "`"));
  CHECK_FALSE(equal_ignoring_case("\xE2\x84\xAA", "k"));
  CHECK_FALSE(equal_ignoring_case("host", "hosts"));
}
