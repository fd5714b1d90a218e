#include "text/similar.hpp"

#include <doctest/doctest.h>

using namespace bridge;

TEST_CASE("the name that is near is meant, and none that is not") {
  const std::vector<std::string_view> names = {"get-sum", "get-sum-of-all", "echo", "status",
                                               "tools"};
  CHECK(most_similar("getsum", names) == "get-sum");
  CHECK(most_similar("get_sum", names) == "get-sum");
  CHECK(most_similar("ehco", names) == "echo");
  CHECK(most_similar("ECHO", names) == "echo");
  CHECK(most_similar("A", {"b", "a"}) == "a");
  CHECK(most_similar("stat", names) == "status");
  CHECK(most_similar("tool", names) == "tools");
  CHECK(most_similar("delete", names) == "");
  CHECK(most_similar("x", names) == "");
  CHECK(most_similar("", names) == "");
  CHECK(most_similar(std::string(100000, 'x'), {std::string_view("xx")}) == "");
  CHECK(did_you_mean("ech", names) == "; did you mean 'echo'?");
}
