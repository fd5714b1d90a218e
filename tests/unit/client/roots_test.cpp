#include "verbs/roots.hpp"

#include <doctest/doctest.h>

using namespace client;

TEST_CASE("the address of a folder has only what needs no escape") {
  CHECK(file_uri("/") == "file:///");
  CHECK(file_uri("/srv/a b/ü%~") == "file:///srv/a%20b/%C3%BC%25~");
  CHECK(file_uri("/a?b#c:d\n") == "file:///a%3Fb%23c%3Ad%0A");
}

TEST_CASE("roots are folders by their real paths, each with its name") {
  CHECK(std::get<std::string>(read_roots({})).empty());
  CHECK(std::get<std::string>(read_roots({"/proc/self/..", "/"})) ==
        R"({"roots":[{"uri":"file:///proc","name":"proc"},{"uri":"file:///","name":"root"}]})");
  CHECK(std::get<UsageError>(read_roots({"/dev/null"})).message ==
        "option --root: /dev/null: Not a directory");
  CHECK(std::get<UsageError>(read_roots({"/no/such\n"})).message ==
        "option --root: /no/such\\n: No such file or directory");
}
