// A call that a modern server refuses because the headers of its tool are missing.
#include <doctest/doctest.h>

#include "router_fixture.hpp"

using namespace bridge;
using namespace std::chrono_literals;

namespace {

struct Refused : RouterFixture {
  Refused() {
    open_modern();
    call(client, "1", "t");
    refuse();
  }
  void refuse() {
    Failure failure = failure_of(ErrorKind::http, Delivered::unknown, "HTTP 400");
    failure.status = 400;
    failure.error_object = R"({"code":-32020,"message":"Header mismatch"})";
    upstream.fail(upstream.id_of("tools/call"), std::move(failure));
  }
  FakeClient& client = connect();
};

}  // namespace

TEST_CASE("the tools are listed, and it is sent once more; refused again it is answered") {
  Refused t;
  CHECK(t.upstream.count("tools/list") == 1);
  t.upstream.answer(t.upstream.id_of("tools/list"), R"({"tools":[],"nextCursor":"2"})");
  CHECK(t.upstream.count("tools/list") == 2);
  CHECK(t.upstream.count("tools/call") == 1);
  t.upstream.answer(t.upstream.id_of("tools/list"), R"({"tools":[]})");
  CHECK(t.upstream.count("tools/call") == 2);
  t.refuse();
  CHECK(t.upstream.count("tools/list") == 2);
  CHECK(t.client.take_line().find("-32020") != std::string::npos);
  CHECK(t.router.in_flight() == 0);
}

TEST_CASE("it is sent once more when the list repeats a cursor") {
  Refused t;
  for (int page = 0; page < 2; ++page)
    t.upstream.answer(t.upstream.id_of("tools/list"), R"({"tools":[],"nextCursor":"2"})");
  CHECK(t.upstream.count("tools/list") == 2);
  CHECK(t.upstream.count("tools/call") == 2);
}

TEST_CASE("it waits 30 s for the list, however slowly that comes") {
  Refused t;
  t.advance(29s);
  t.upstream.answer(t.upstream.id_of("tools/list"), R"({"tools":[],"nextCursor":"2"})");
  CHECK(t.upstream.count("tools/call") == 1);
  t.advance(1s);
  CHECK(t.upstream.count("tools/call") == 2);
  t.upstream.answer(t.upstream.id_of("tools/list"), R"({"tools":[],"nextCursor":"3"})");
  CHECK(t.upstream.count("tools/list") == 2);
}

TEST_CASE("it is answered if the upstream cannot be reached when its time is over") {
  Refused t;
  t.refuse_connection("tools/list");
  CHECK_FALSE(t.session.is_open());
  t.advance(30s);
  CHECK(t.client.answered == Lines{"1"});
  t.upstream.answer(t.upstream.id_of("tools/list"), R"({"tools":[],"nextCursor":"2"})");
  CHECK(t.router.in_flight() == 0);
}
