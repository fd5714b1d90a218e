#include "text/shell_word.hpp"

#include <doctest/doctest.h>

using namespace bridge;

TEST_CASE("a line is split as a shell does, and nothing in it is expanded") {
  using Words = std::vector<std::string>;
  CHECK(shell_words(" call  a='b c'\t\"d\\\"e\" f\\ g $H '' ") ==
        Words{"call", "a=b c", "d\"e", "f g", "$H", ""});
  CHECK(shell_words("") == Words{});
  CHECK_FALSE(shell_words("call 'x"));
}
