#include "grant/grant.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <variant>

#include "../../words.hpp"

using namespace bridge;

namespace {

Grant wanted(const std::string& params) {
  auto read = read_wanted_grant(params);
  if (const auto* wrong = std::get_if<std::string>(&read)) FAIL(*wrong);
  return std::get<Grant>(std::move(read));
}

std::string wrong_of(const std::string& params) {
  const auto read = read_wanted_grant(params);
  const auto* wrong = std::get_if<std::string>(&read);
  return wrong != nullptr ? *wrong : "";
}

Grant full() {
  Grant grant = wanted(
      R"({"name":"step é","tools":["a_*","!a_b"],"prompts":[],"resources":["x://*"],"methods":["m"],"calls":7})");
  grant.id = "0123456789abcd";
  grant.issuer = {false, 1000, 100, {4, 24}, true};
  grant.expires = 1'800'000'000'000;
  grant.parent = "fedcba98765432";
  return grant;
}

}  // namespace

TEST_CASE("what an issuer leaves out is as its own, for ten minutes") {
  for (const char* params : {"", "{}", R"({"_meta":{"x":1}})"}) {
    const Grant grant = wanted(params);
    CHECK(grant.expires == 600'000);
    CHECK(grant.calls == 0);
    CHECK(grant.lists().tools.allows_all());
    CHECK(grant.lists().methods.allows_all());
  }
}

TEST_CASE("the lists of a grant are those of a policy's rule") {
  const PolicyRule lists = full().lists();
  CHECK(lists.tools.allows("a_x"));
  CHECK_FALSE(lists.tools.allows("a_b"));
  CHECK_FALSE(lists.prompts.allows("p"));
  CHECK(lists.resources.allows("x://1"));
  CHECK_FALSE(lists.methods.allows("n"));
  CHECK(wanted(R"({"tools":"read-only"})").lists().tools.wants_read_only());
  CHECK_FALSE(wanted(R"({"tools":["!a"]})").lists().tools.allows_some());
}

TEST_CASE("a wanted grant that could mean something else is refused") {
  for (const char* params : {R"([])",
                             R"(1)",
                             R"({"tool":["a"]})",
                             R"({"tools":["a"],"tools":["b"]})",
                             R"({"tools":["a"],"t\u006fols":["b"]})",
                             R"({"Tools":["a"]})",
                             R"({"tools":"a"})",
                             R"({"tools":[1]})",
                             R"({"tools":[""]})",
                             R"({"tools":["!"]})",
                             R"({"tools":null})",
                             R"({"prompts":"read-only"})",
                             R"({"ttlMs":0})",
                             R"({"ttlMs":-1})",
                             R"({"ttlMs":1.5})",
                             R"({"ttlMs":86400001})",
                             R"({"ttlMs":"1"})",
                             R"({"calls":0})",
                             R"({"calls":1e9})",
                             R"({"calls":1000000001})",
                             R"({"name":""})",
                             R"({"name":1})"}) {
    INFO(params);
    CHECK_FALSE(wrong_of(params).empty());
  }
  CHECK(contains(wrong_of(R"({"tool":["a"]})"), "has only name, tools"));
  CHECK_FALSE(wrong_of(R"({"name":")" + std::string(101, 'x') + R"("})").empty());
  CHECK(wrong_of(R"({"ttlMs":86400000,"calls":1,"name":"x","tools":[]})").empty());
  // A glob is matched with what its holder sends.
  const auto list = [](std::size_t count, std::size_t bytes) {
    std::string globs;
    for (std::size_t i = 0; i < count; ++i)
      globs += (i == 0 ? "\"" : ",\"") + std::string(bytes, '*') + '"';
    return R"({"resources":[)" + globs + "]}";
  };
  CHECK(wrong_of(list(1, 256)).empty());
  CHECK_FALSE(wrong_of(list(1, 257)).empty());
  CHECK(wrong_of(list(100, 1)).empty());
  CHECK_FALSE(wrong_of(list(101, 1)).empty());
}

TEST_CASE("a payload is read as it was written") {
  const Grant grant = full();
  const std::string payload = payload_of(grant);
  CHECK(
      payload ==
      R"({"id":"0123456789abcd","name":"step é","uid":1000,"gid":100,"groups":[4,24],"tools":["a_*","!a_b"],"prompts":[],"resources":["x://*"],"methods":["m"],"expires":1800000000000,"calls":7,"parent":"fedcba98765432"})");
  const auto read = read_payload(payload);
  REQUIRE(read);
  CHECK(payload_of(*read) == payload);
  CHECK(read->issuer.groups == std::vector<gid_t>{4, 24});
  CHECK(read->issuer.grant);
  Grant http = grant;
  http.issuer = {true, 0, 0, {}};
  http.parent.clear();
  REQUIRE(read_payload(payload_of(http)));
  CHECK(read_payload(payload_of(http))->issuer.http);
  CHECK_FALSE(read_payload(payload_of(http))->issuer.grant);
}

TEST_CASE("a payload in another spelling is none") {
  const std::string right = payload_of(full());
  const auto with = [&](const std::string& old, const std::string& text) {
    std::string payload = right;
    const auto at = payload.find(old);
    REQUIRE(at != payload.npos);
    return payload.replace(at, old.size(), text);
  };
  for (const std::string& payload : {std::string(),
                                     std::string("{}"),
                                     std::string("[]"),
                                     right + " ",
                                     " " + right,
                                     with("{\"id\"", "{ \"id\""),
                                     with("\"calls\":7", "\"calls\":7,\"calls\":8"),
                                     with("\"calls\":7", "\"calls\":7,\"more\":1"),
                                     with("\"calls\":7", "\"calls\":07"),
                                     with("\"calls\":7", "\"calls\":0"),
                                     with("\"calls\":7", "\"calls\":7.0"),
                                     with("\"tools\"", "\"t\\u006fols\""),
                                     with("\"tools\"", "\"Tools\""),
                                     with("[\"a_*\"", "[\"a_*\",\"\""),
                                     with("\"uid\":1000", "\"uid\":4294968296"),
                                     with("\"uid\":1000", "\"http\":true,\"uid\":1000"),
                                     with("\"uid\":1000,", ""),
                                     with("\"id\":\"0123456789abcd\"", "\"id\":\"\""),
                                     with("fedcba98765432", ""),
                                     with("\"expires\":1800000000000,", ""),
                                     std::string(1u << 20, 'x'),
                                     R"({"id":")" + std::string(1u << 20, 'a') + "\"}"}) {
    INFO(payload.substr(0, 300));
    CHECK_FALSE(read_payload(payload));
  }
}

TEST_CASE("a grant has expired at its time") {
  Grant grant = full();
  const WallTime end{std::chrono::milliseconds(1'800'000'000'000)};
  CHECK_FALSE(grant.has_expired(end - std::chrono::milliseconds(1)));
  CHECK(grant.has_expired(end));
  CHECK(grant.has_expired(end + std::chrono::hours(1)));
}

TEST_CASE("each end of a grant has its text and its name") {
  CHECK(contains(std::string(text_of(GrantEnd::invalid)), "not valid here"));
  CHECK(contains(std::string(text_of(GrantEnd::expired)), "has expired"));
  CHECK(contains(std::string(text_of(GrantEnd::revoked)), "was revoked"));
  CHECK(contains(std::string(text_of(GrantEnd::used_up)), "are used up"));
  CHECK(name_of(GrantEnd::used_up) == "used_up");
}
