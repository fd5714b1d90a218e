#include "auth/local_token.hpp"

#include <sys/stat.h>

#include "../event/loop_fixture.hpp"

using namespace bridge;

TEST_CASE_FIXTURE(LoopFixture, "a token file's line end is not part of the token") {
  TokenFile source(loop, write("t", "secret-1\r\n"));
  CHECK(source.current() == "secret-1");
  CHECK(fetch(source).token == "secret-1");
}

TEST_CASE_FIXTURE(LoopFixture, "a replaced token file is noticed when its token is refused") {
  TokenFile source(loop, write("t", "old-token\n"));
  CHECK(!source.refused("old-token", {}));
  replace("t", "new-token\n");
  CHECK(source.refused("old-token", {}));
  CHECK(source.current() == "new-token");
  CHECK(!source.refused("new-token", {}));
  CHECK(source.secrets() == std::vector<std::string>{"old-token", "new-token"});
}

TEST_CASE_FIXTURE(LoopFixture,
                  "a file rewritten in place, with the same size, is noticed within two seconds") {
  TokenFile source(loop, write("t", "token-1"));
  write("t", "token-2");
  run_until([&] { return source.current() == "token-2"; });
}

TEST_CASE_FIXTURE(LoopFixture, "a reload reads the token file at once") {
  TokenFile source(loop, write("t", "token-1"));
  replace("t", "token-2");
  source.reload();
  CHECK(source.current() == "token-2");
}

TEST_CASE_FIXTURE(LoopFixture, "a token file that cannot be read is a failure that names it") {
  const auto failure_of = [&](const std::string& file) {
    TokenFile source(loop, path(file));
    CHECK(!source.current());
    const TokenAnswer answer = fetch(source);
    REQUIRE(answer.failure);
    CHECK(answer.failure->kind == ErrorKind::auth);
    CHECK(answer.failure->delivered == Delivered::no);
    CHECK(answer.failure->message.find(path(file)) != std::string::npos);
    CHECK(answer.failure->message.find("hush") == std::string::npos);
    return answer.failure->message;
  };
  CHECK(failure_of("nowhere").find("No such file") != std::string::npos);
  write("empty", "\n");
  CHECK(failure_of("empty").find("empty") != std::string::npos);
  write("long", "hush" + std::string(70000, 'x'));
  CHECK(failure_of("long").find("64 KiB") != std::string::npos);
  write("space", "hush hush");
  CHECK(failure_of("space").find("ASCII") != std::string::npos);
  write("lines", "hush\nhush\n");
  CHECK(failure_of("lines").find("ASCII") != std::string::npos);
  REQUIRE(mkfifo(path("pipe").c_str(), 0600) == 0);
  CHECK(failure_of("pipe").find("regular") != std::string::npos);
}

TEST_CASE_FIXTURE(LoopFixture, "a token file that comes to be is read") {
  TokenFile source(loop, path("t"));
  CHECK(fetch(source).failure);
  write("t", "late");
  CHECK(fetch(source).token == "late");
  CHECK(source.current() == "late");
}
