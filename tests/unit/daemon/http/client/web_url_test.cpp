#include "http/client/web_url.hpp"

#include <doctest/doctest.h>

#include "../../../words.hpp"
#include "text/base64.hpp"
#include "text/characters.hpp"

using namespace bridge;
using namespace std::string_literals;

TEST_CASE("everything but unreserved characters is percent-encoded") {
  CHECK(percent_encoded("azAZ09-._~") == "azAZ09-._~");
  CHECK(percent_encoded("a b+c&d=e%/:?\n\xc3\xa9") == "a%20b%2Bc%26d%3De%25%2F%3A%3F%0A%C3%A9");
  CHECK(percent_encoded("\0"s) == "%00");
}

TEST_CASE("client id and secret are encoded before they are joined") {
  CHECK(basic_credentials("id", "secret") == "Basic aWQ6c2VjcmV0");
  CHECK(basic_credentials("a:b", "c d%") == "Basic " + base64("a%3Ab:c%20d%25"));
}

TEST_CASE(
    "the secrets of a URL are its user and password in each form, its query and long values in it") {
  using Secrets = std::vector<std::string>;
  CHECK(secrets_of_url("https://host/path") == Secrets{});
  CHECK(secrets_of_url("no URL") == Secrets{});
  CHECK(secrets_of_url("https://token@host/") ==
        Secrets{"token:", base64("token:"), "token", "token:", base64("token:"), "token"});
  CHECK(secrets_of_url("https://us:p%40w@host/?a=true&b&c=eightab=") ==
        Secrets{"us:p%40w", base64("us:p%40w"), "p%40w", "us:p@w", base64("us:p@w"), "p@w",
                "a=true&b&c=eightab=", "eightab="});
}

TEST_CASE("what the whole internet can reach is public") {
  for (const char* address :
       {"1.1.1.1", "172.15.255.255", "172.32.0.1", "192.169.0.1", "100.128.0.1", "2606:4700::1111",
        "::ffff:8.8.8.8", "64:ff9b::808:808"})
    CHECK_MESSAGE(is_public_address(address), address);
}

TEST_CASE("what is inside some network is not, however it is written") {
  for (const std::string& address : words(R"(
           127.0.0.1 127.1.2.3 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254
           100.64.0.1 0.0.0.0 198.18.0.1 224.0.0.1 255.255.255.255 ::1 :: fe80::1 fe80::1%eth0
           fd00::1 ff02::1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 64:ff9b::a00:1
           64:ff9b:1::808:808 2002:a00:1:: 2001:0:a00:1::1 2001:db8::1 localhost 8.8.8)",
                                          {""}))
    CHECK_MESSAGE(!is_public_address(address), address);
}
