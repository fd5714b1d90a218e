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
