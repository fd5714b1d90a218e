#include "grant/grant_key.hpp"

#include <doctest/doctest.h>

#include <string>

#include "grant/grant.hpp"
#include "text/base64.hpp"

using namespace bridge;
using namespace std::string_view_literals;

namespace {

const GrantKey key(std::string(32, 'k'));
const std::string payload = R"({"id":"0123456789abcd","uid":1,"gid":2,"expires":3})";

}  // namespace

TEST_CASE("a string has the payload and its HMAC-SHA-256") {
  // RFC 4231, test case 2, has a key of another length: HMAC pads it with zeros.
  const GrantKey jefe(std::string("Jefe") + std::string(28, '\0'));
  const std::string string = jefe.sign("what do ya want for nothing?");
  CHECK(string ==
        "mcpg_" + base64url("what do ya want for nothing?"
                            "\x5b\xdc\xc1\x46\xbf\x60\x75\x4e\x6a\x04\x24\x26\x08\x95\x75\xc7\x5a"
                            "\x00\x3f\x08\x9d\x27\x39\x83\x9d\xec\x58\xb9\x64\xec\x38\x43"sv));
  CHECK(key.verify(key.sign(payload)) == payload);
}

TEST_CASE("no other key and no changed string is accepted") {
  const std::string string = key.sign(payload);
  CHECK_FALSE(GrantKey(std::string(32, 'l')).verify(string));
  CHECK_FALSE(GrantKey().verify(string));
  // A changed bit in each byte; in the last letter, two bits belong to nothing.
  for (std::size_t at = 0; at < string.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = string;
      changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
      INFO(changed);
      CHECK_FALSE(key.verify(changed));
    }
  }
}

TEST_CASE("a string has no second spelling") {
  for (std::size_t more = 0; more < 3; ++more) {
    const std::string string = key.sign(payload + std::string(more, ' '));
    REQUIRE(key.verify(string));
    for (const std::string& other :
         {string + "=", string + "==", string + "\n", string + " ", " " + string, string + "A",
          string.substr(0, 20) + "\n" + string.substr(20), "MCPG_" + string.substr(5),
          string.substr(5), string.substr(0, string.size() - 1)}) {
      INFO(other);
      CHECK_FALSE(key.verify(other));
    }
    const std::string alphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=";
    int accepted = 0;
    for (const char last : alphabet)
      accepted += key.verify(string.substr(0, string.size() - 1) + last) ? 1 : 0;
    CHECK(accepted == 1);
  }
}

TEST_CASE("any bytes are looked at, and long ones are not") {
  for (const std::string& bytes :
       {std::string(), std::string("mcpg_"), std::string("mcpg_A"), std::string(300, '\0'),
        "mcpg_" + std::string(1u << 20, 'A'), "mcpg_" + base64url(std::string(32, 'x')),
        key.sign(std::string(1u << 20, 'x')), key.sign("")}) {
    CHECK_FALSE(key.verify(bytes));
  }
  CHECK(key.verify(key.sign(std::string(Grant::longest_payload, 'x'))));
}

TEST_CASE("the hash of a string is SipHash-2-4") {
  std::string secret;
  std::string text;
  for (char c = 0; c < 16; ++c) secret += c;
  for (char c = 0; c < 15; ++c) text += c;
  // The paper's appendix A.
  CHECK(SecretHash(secret).of(text) == 0xa129ca6149be45e5);
  CHECK(SecretHash().of(text) != SecretHash().of(text));
}
