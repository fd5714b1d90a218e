// Which requests a message of the upstream has answered.
#include <doctest/doctest.h>

#include "session_fixture.hpp"

using namespace bridge;
using namespace std::chrono_literals;

namespace {

using Ids = std::vector<UpstreamId>;

struct Asked : SessionFixture {
  Asked() {
    open();
    first = send();
    second = send();
    upstream.answered.clear();
  }
  static std::string answer_to(UpstreamId id) {
    return fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{{}}}})", value_of(id));
  }
  UpstreamId first{}, second{};
};

}  // namespace

TEST_CASE("a request may be answered on the server's stream, and on another request's") {
  Asked t;
  t.upstream.say(t.answer_to(t.second));
  CHECK(t.upstream.answered == Ids{t.second});
  t.upstream.say(t.answer_to(t.first), t.second);
  CHECK(t.upstream.answered == Ids{t.second, t.first});
}

TEST_CASE("a batch answers several requests at once") {
  Asked t;
  t.upstream.say(fmt::format(R"([{},{{"jsonrpc":"2.0","method":"notifications/x"}},{}])",
                             t.answer_to(t.first), t.answer_to(t.second)));
  CHECK(t.upstream.answered == Ids{t.first, t.second});
}

TEST_CASE("a request of the session's own is answered as any other") {
  Asked t;
  t.advance(60s);
  t.upstream.say(t.answer_to(t.upstream.id_of("ping")));
  CHECK(t.upstream.answered == Ids{t.upstream.id_of("ping")});
}

TEST_CASE("a response that is not valid ends the request whose id can be read") {
  struct Row {
    std::string before, after;  ///< the id
    bool ends = true;
  };
  const Row rows[] = {
      {R"({"jsonrpc":"2.0","id":)", R"(,"result":{},"result":{}})"},
      {R"({"jsonrpc":"2.0","id":)", R"(,"result":{},"Result":{}})"},
      {R"({"jsonrpc":"2.0","id":)", R"(,"result":{},"error":{"code":1,"message":"m"}})"},
      {R"({"jsonrpc":"2.0","id":)", "}"},
      {R"({"jsonrpc":"2.0","result":{},"re\u0073ult":{},"id":")", "\"}"},
      {R"({"jsonrpc":"2.0","id":)", R"(,"result":{"value":NaN}})"},
      {R"({"jsonrpc":"2.0","id":)", ",\"result\":\"\xff\"}"},
      {R"([{"jsonrpc":"2.0","id":)", R"(,"result":{},"result":{}}])"},
      {R"({"jsonrpc":"2.0","id":0,"id":)", R"(,"result":{}})", false},
      {R"({"jsonrpc":"2.0","method":"x","result":{},"id":)", "}", false},
      {R"({"jsonrpc":"2.0","value":NaN,"id":)", R"(,"result":{}})", false},
  };
  for (const bool own_stream : {true, false}) {
    for (const Row& row : rows) {
      CAPTURE(row.before + "N" + row.after);
      Asked t;
      t.upstream.say(row.before + std::to_string(value_of(t.first)) + row.after,
                     own_stream ? std::optional(t.first) : std::nullopt);
      CHECK((t.events.end_of(t.first) != nullptr) == row.ends);
      CHECK(t.events.end_of(t.second) == nullptr);
      CHECK(t.upstream.answered == (row.ends ? Ids{t.first} : Ids{}));
      CHECK(t.events.count("malformed") == 1);
    }
  }
  Asked t;
  t.upstream.say(R"({"jsonrpc":"2.0","id":99,"result":{},"result":{}})");
  CHECK(t.events.count("ended") == 0);
  CHECK(t.upstream.answered.empty());
}
