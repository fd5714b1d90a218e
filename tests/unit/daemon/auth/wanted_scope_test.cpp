#include "auth/discovery.hpp"

#include <doctest/doctest.h>

using namespace bridge;

TEST_CASE("the operator's scope goes before the challenge's, and that before the server's") {
  WantedScope none("");
  CHECK(none.text("").empty());
  CHECK(none.text("a b") == "a b");
  none.challenge("c");
  CHECK(none.text("a b") == "c");
  WantedScope given("mine");
  given.challenge("c");
  CHECK(given.text("a b") == "mine");
}

TEST_CASE("a step asks for more beside what was had, and stays once it is made") {
  WantedScope scope("a");
  CHECK(scope.step_up("b a", scope.text("")));
  CHECK(scope.is_stepping());
  CHECK(scope.text("") == "b a");
  scope.step_made();
  CHECK(!scope.is_stepping());
  scope.challenge("c");
  CHECK(scope.step_up("d", scope.text("")));
  CHECK(scope.text("") == "d b a");
}

TEST_CASE("what a step has led to is gone on with, one under way is not") {
  WantedScope scope("a");
  CHECK(scope.step_up("b", scope.text("")));
  CHECK(scope.stepped().empty());
  scope.step_made();
  WantedScope next("a");
  next.restore(scope.stepped());
  CHECK(next.text("") == "b a");
}

TEST_CASE("a step that is refused is not tried again, one that nobody judged is") {
  WantedScope scope("a");
  CHECK(scope.step_up("b", "a"));
  CHECK(scope.step_failed(false));
  CHECK(scope.text("") == "a");
  CHECK(!scope.step_failed(false));
  CHECK(scope.step_up("b", "a"));
  CHECK(scope.step_failed(true));
  CHECK(scope.text("") == "a");
  CHECK(!scope.step_up("b", "a"));
  CHECK(!scope.is_stepping());
  scope.forgive();
  CHECK(scope.step_up("b", "a"));
}

TEST_CASE("no more than 64 steps are tried") {
  WantedScope scope("");
  for (int i = 0; i < 64; ++i) {
    CHECK(scope.step_up("s" + std::to_string(i), ""));
    CHECK(scope.step_failed(true));
  }
  CHECK(!scope.step_up("one more", ""));
}
