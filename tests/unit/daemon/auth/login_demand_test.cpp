#include "auth/login_method.hpp"

#include <doctest/doctest.h>

#include "base/contains.hpp"

using namespace bridge;

namespace {

TokenChallenge challenge(int status, const std::string& field, bool is_public = false) {
  return {status, field, is_public};
}

}  // namespace

TEST_CASE("a 401 says where the metadata are, and which scope is wanted") {
  LoginDemand demand("");
  CHECK(!demand.was_refused());
  demand.take(challenge(401, R"(Bearer resource_metadata="https://r.example/m", scope="a b")"));
  CHECK(demand.was_refused());
  CHECK(demand.announced() == "https://r.example/m");
  CHECK(demand.scope().text("supported") == "a b");
  demand.take(challenge(401, "Bearer"));
  CHECK(demand.announced() == "https://r.example/m");
  CHECK(LoginDemand("mine").scope().text("supported") == "mine");
}

TEST_CASE("403s add up to a step, until it is made") {
  LoginDemand demand("");
  demand.take(challenge(403, R"(Bearer error="insufficient_scope", scope="admin")"));
  demand.take(challenge(403, R"(Bearer error="insufficient_scope", scope="admin files")"));
  demand.take(challenge(403, R"(Bearer error="access_denied", scope="never")"));
  CHECK(demand.step_up() == "admin files");
  demand.forget_step_up();
  CHECK(demand.step_up().empty());
}

TEST_CASE("a server that wants another scope each time does not fill the memory") {
  LoginDemand demand("");
  for (int i = 0; i < 1000; ++i) {
    const std::string scope = "scope-" + std::to_string(i) + std::string(40, 'x');
    demand.take(challenge(403, "Bearer error=\"insufficient_scope\", scope=\"" + scope + "\""));
    CHECK(has_word(demand.step_up(), scope));
  }
  CHECK(demand.step_up().size() <= header_limit::scope);
}

TEST_CASE("who was once seen at a public address stays so") {
  LoginDemand demand("");
  demand.take(challenge(401, "Bearer", true));
  demand.take(challenge(401, "Bearer", false));
  CHECK(demand.is_public());
}
