#include "http/client/http_transfer.hpp"

#include <doctest/doctest.h>

using bridge::Redirection;
using bridge::ResponseHead;

namespace {

const std::string url = "http://host:1/mcp";

ResponseHead answer(int status, const std::string& location) {
  ResponseHead head;
  head.status = status;
  head.complete = true;
  head.location = location;
  return head;
}

}  // namespace

TEST_CASE("307 and 308 within the origin are followed") {
  for (const int status : {307, 308}) {
    Redirection redirection;
    CHECK_FALSE(redirection.is_elsewhere());
    CHECK(redirection.place(url) == url);
    CHECK(redirection.follow(url, answer(status, "/mcp/")));
    CHECK(redirection.is_elsewhere());
    CHECK(redirection.place(url) == "http://host:1/mcp/");
  }
}

TEST_CASE("a place is named relative to the one before") {
  Redirection redirection;
  CHECK(redirection.follow(url, answer(307, "/a/b")));
  CHECK(redirection.follow(url, answer(307, "c")));
  CHECK(redirection.place(url) == "http://host:1/a/c");
}

TEST_CASE("another status, no place, another origin or half a head is not followed") {
  Redirection redirection;
  for (const int status : {200, 301, 302, 303, 404})
    CHECK_FALSE(redirection.follow(url, answer(status, "/mcp/")));
  CHECK_FALSE(redirection.follow(url, answer(307, "")));
  CHECK_FALSE(redirection.follow(url, answer(307, "/m\xc3\xa4p")));
  CHECK_FALSE(redirection.follow(url, answer(307, "/" + std::string(9000, 'x'))));
  for (const char* other : {"http://host:2/mcp", "https://host:1/mcp", "http://elsewhere:1/mcp"})
    CHECK_FALSE(redirection.follow(url, answer(307, other)));
  ResponseHead half = answer(307, "/mcp/");
  half.complete = false;
  CHECK_FALSE(redirection.follow(url, half));
  CHECK(redirection.place(url) == url);
}

TEST_CASE("one request is sent on five times, and the next one begins where it ended") {
  Redirection redirection;
  for (int hop = 0; hop < 5; ++hop) CHECK(redirection.follow(url, answer(307, "/again")));
  CHECK_FALSE(redirection.follow(url, answer(307, "/further")));
  redirection.begin_request();
  CHECK(redirection.place(url) == "http://host:1/again");
  CHECK(redirection.follow(url, answer(307, "/further")));
}
