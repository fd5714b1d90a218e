#include "auth/discovery.hpp"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

using Parameters = std::vector<std::pair<std::string, std::string>>;

Challenge only(const std::string& field) {
  const auto challenges = parse_challenges(field);
  REQUIRE(challenges.size() == 1);
  return challenges.front();
}

}  // namespace

TEST_CASE("a challenge's parameters, quoted and not") {
  const Challenge challenge = only(R"(Bearer realm="x", Error=insufficient_scope, scope = "a b")");
  CHECK(challenge.scheme == "bearer");
  CHECK(challenge.parameters ==
        Parameters{{"realm", "x"}, {"error", "insufficient_scope"}, {"scope", "a b"}});
  CHECK(challenge.parameter("scope") == "a b");
  CHECK(challenge.parameter("none") == "");
}

TEST_CASE("a quoted string may hold commas, equals signs and escapes") {
  const Challenge challenge = only(R"(Bearer a="x, Basic b=\"c\"", d="\\", e="")");
  CHECK(challenge.parameters == Parameters{{"a", R"(x, Basic b="c")"}, {"d", "\\"}, {"e", ""}});
}

TEST_CASE("several challenges in one field are told apart") {
  const auto challenges = parse_challenges(
      R"(Negotiate, Basic realm="a", charset="UTF-8",Bearer scope="s", DPoP algs="ES256", Bearer x=1)");
  REQUIRE(challenges.size() == 5);
  CHECK(challenges[0].scheme == "negotiate");
  CHECK(challenges[0].parameters.empty());
  CHECK(challenges[1].parameters == Parameters{{"realm", "a"}, {"charset", "UTF-8"}});
  CHECK(challenges[2].parameters == Parameters{{"scope", "s"}});
  CHECK(challenges[3].scheme == "dpop");
  CHECK(bearer_parameter(challenges, "x") == "1");
  CHECK(bearer_parameter(challenges, "scope") == "s");
  CHECK(bearer_parameter(challenges, "algs") == "");
  CHECK(bearer_parameter(challenges, "realm") == "");
}

TEST_CASE("a token68 is no parameter") {
  const auto challenges = parse_challenges("Negotiate YWJj=, NTLM TlRMTVNTUAAB==, Bearer a=b");
  REQUIRE(challenges.size() == 3);
  CHECK(challenges[0].token68 == "YWJj=");
  CHECK(challenges[0].parameters.empty());
  CHECK(challenges[1].token68 == "TlRMTVNTUAAB==");
  CHECK(challenges[2].parameters == Parameters{{"a", "b"}});
}

TEST_CASE("an unquoted URL is taken whole") {
  CHECK(only("Bearer resource_metadata=https://h/.well-known/x?y=z, error=e")
            .parameter("resource_metadata") == "https://h/.well-known/x?y=z");
}

TEST_CASE("empty items and odd white space change nothing") {
  CHECK(parse_challenges("").empty());
  CHECK(parse_challenges(" , ,").empty());
  const Challenge challenge = only(",, Bearer\ta=b ,, c = \"d\" ,");
  CHECK(challenge.parameters == Parameters{{"a", "b"}, {"c", "d"}});
}

TEST_CASE("what is not well-formed is skipped, and nothing else") {
  CHECK(bearer_parameter(parse_challenges(R"("stray", a=b, Bearer x="y")"), "x") == "y");
  CHECK(bearer_parameter(parse_challenges(R"(Bearer ?? "a, Bearer x=1", scope="s")"), "scope") ==
        "s");
  CHECK(bearer_parameter(parse_challenges(R"(Bearer scope="s", x="never closed)"), "scope") == "s");
  for (const char* field : {"=", "\"", "Bearer =", "Bearer a", "Bearer a=", "Bearer a=\"",
                            "Bearer a=\"\\", "a b c", "\\", ","}) {
    const std::string prefix(field);
    for (std::size_t length = 0; length <= prefix.size(); ++length)
      parse_challenges(prefix.substr(0, length));
    CHECK(bearer_parameter(parse_challenges(prefix), "scope") == "");
  }
}
