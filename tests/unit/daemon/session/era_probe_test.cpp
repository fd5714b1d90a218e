// Of which era the upstream is, and what is remembered of that.
#include <doctest/doctest.h>

#include <optional>

#include "session_fixture.hpp"

using namespace bridge;
using namespace std::chrono_literals;

using Methods = SessionFixture::Methods;

namespace {

constexpr std::string_view discovered =
    R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}}})";
constexpr std::string_view not_found = R"({"code":-32601,"message":"Method not found"})";

struct Asking : SessionFixture {
  explicit Asking(SessionOptions options = {}) : SessionFixture(std::move(options)) {
    upstream.modern_possible = true;
  }
  void discover() { upstream.answer(upstream.id_of("server/discover"), discovered); }
  void open_modern() {
    require();
    discover();
    REQUIRE(session.is_open());
  }
  void fail_probe(Failure failure) {
    upstream.fail(upstream.id_of("server/discover"), std::move(failure));
  }
  static Failure refusal(int http_status, std::string_view error = {}) {
    Failure failure = status(http_status);
    failure.error_object = std::string(error);
    return failure;
  }
};

SessionOptions told(EraOption era) {
  SessionOptions options;
  options.era = era;
  return options;
}

}  // namespace

TEST_CASE("a modern upstream is asked once, and no more is needed to open the session") {
  Asking t;
  t.open_modern();
  CHECK(t.upstream.methods() == Methods{"server/discover"});
  const Outgoing& probe = t.upstream.sent.front();
  CHECK(probe.probes);
  CHECK_FALSE(probe.opens_session);
  CHECK(probe.body.find(R"("io.modelcontextprotocol/protocolVersion":"2026-07-28")") !=
        std::string::npos);
  CHECK(probe.headers ==
        Methods{"Mcp-Method: server/discover", "MCP-Protocol-Version: 2026-07-28"});
  CHECK(t.upstream.version == "2026-07-28");
  CHECK_FALSE(t.upstream.is_stateful);
  CHECK(t.session.is_modern());
  CHECK(t.session.server()->era() == Era::modern);
}

TEST_CASE("who asks for the session while its client is answered does not open another one") {
  Asking t;
  t.events.on_message = [&t] { t.session.require(); };
  t.open_with_clients(R"({"protocolVersion":"2025-06-18","capabilities":{}})");
  t.discover();
  CHECK(t.session.is_open());
  CHECK(t.upstream.methods() == Methods{"server/discover"});
}

TEST_CASE("what is no answer of a modern server means a legacy one, which is remembered") {
  struct Row {
    int status;
    std::string_view error;
  };
  for (const Row& row : {Row{400, not_found}, Row{404, ""}, Row{405, ""}, Row{400, ""}}) {
    CAPTURE(row.status);
    Asking t;
    t.require();
    t.fail_probe(Asking::refusal(row.status, row.error));
    CHECK(t.upstream.methods() == Methods{"server/discover", "initialize"});
    t.let_it_open();
    CHECK(t.session.is_open());
    CHECK_FALSE(t.session.is_modern());
    CHECK(t.upstream.is_stateful);
    t.upstream.lose_session();
    CHECK(t.upstream.count("server/discover") == 1);
    CHECK(t.upstream.count("initialize") == 2);
  }
}

TEST_CASE("an answer that is an error of a legacy server counts like a refusal") {
  Asking t;
  t.require();
  t.upstream.answer_error(t.upstream.id_of("server/discover"), not_found);
  CHECK(t.upstream.methods() == Methods{"server/discover", "initialize"});
}

TEST_CASE("what decides nothing is asked again with the next try") {
  for (const int status : {429, 503}) {
    CAPTURE(status);
    Asking t;
    t.require();
    t.fail_probe(Asking::refusal(status));
    CHECK(t.upstream.methods() == Methods{"server/discover"});
    CHECK_FALSE(t.session.is_ready());
    t.events.frames = true;
    t.require();
    t.time_until([&] { return t.upstream.count("server/discover") == 2; }, 600ms);
    t.discover();
    CHECK(t.session.is_modern());
  }
}

TEST_CASE("another 5xx, or two connections that were closed, say legacy for this session alone") {
  for (const bool closed : {false, true}) {
    CAPTURE(closed);
    Asking t;
    t.require();
    if (closed) {
      t.fail_probe(SessionFixture::broken());
      CHECK(t.upstream.count("server/discover") == 2);
      t.fail_probe(SessionFixture::broken());
    } else {
      t.fail_probe(Asking::refusal(500));
    }
    t.let_it_open();
    const std::size_t asked = t.upstream.count("server/discover");
    t.upstream.lose_session();
    CHECK(t.upstream.count("server/discover") == asked + 1);
    CHECK(t.upstream.count("initialize") == 1);
  }
}

TEST_CASE("a local server that stays silent is sent the initialize as well, after 2 s") {
  Asking t;
  t.upstream.answer_streams = false;
  t.require();
  t.advance(1999ms);
  CHECK(t.upstream.count("initialize") == 0);
  t.advance(1ms);
  CHECK(t.upstream.count("initialize") == 1);
  SUBCASE("its result decides") {
    t.let_it_open();
    CHECK_FALSE(t.session.is_modern());
    CHECK_FALSE(t.upstream.is_under_way(t.upstream.id_of("server/discover")));
  }
  SUBCASE("or that of the probe") {
    t.discover();
    CHECK(t.session.is_modern());
    CHECK_FALSE(t.upstream.is_under_way(t.upstream.id_of("initialize")));
  }
}

TEST_CASE("what is told of the era is not asked") {
  Asking legacy(told(EraOption::legacy));
  legacy.require();
  CHECK(legacy.upstream.methods() == Methods{"initialize"});

  Asking modern(told(EraOption::modern));
  modern.require();
  modern.fail_probe(Asking::refusal(404));
  CHECK(modern.session.state() == Session::State::refused);
  CHECK(modern.upstream.count("initialize") == 0);
}

TEST_CASE("a server without a common revision is refused") {
  Asking t;
  t.require();
  t.fail_probe(Asking::refusal(
      400, R"({"code":-32022,"message":"Unsupported","data":{"supported":["2027-01-01"]}})"));
  CHECK(t.session.state() == Session::State::refused);
  CHECK(t.upstream.count("initialize") == 0);
}

TEST_CASE(
    "a client's initialize that was to open the session is answered from what was discovered") {
  Asking t;
  const UpstreamId id =
      t.open_with_clients(R"({"protocolVersion":"2025-06-18","capabilities":{}})");
  CHECK(t.upstream.methods() == Methods{"server/discover"});
  t.discover();
  REQUIRE(t.events.messages.size() == 1);
  const std::string& answer = t.events.messages.front();
  CHECK(answer.find(fmt::format(R"("id":{})", value_of(id))) != std::string::npos);
  CHECK(answer.find(R"("protocolVersion":"2025-06-18")") != std::string::npos);
  CHECK(t.upstream.count("initialize") == 0);
}

TEST_CASE("a server that was upgraded under us is asked again, and the request goes to it anew") {
  for (const std::string_view error :
       {R"({"code":-32020,"message":"x"})", R"({"code":-32022,"message":"x"})",
        R"({"code":-32602,"message":"_meta lacks io.modelcontextprotocol/protocolVersion"})"}) {
    CAPTURE(error);
    Asking t;
    t.require();
    t.fail_probe(Asking::refusal(404));
    t.let_it_open();
    const UpstreamId call = t.send();
    t.upstream.fail(call, Asking::refusal(400, error));
    CHECK(t.upstream.count("server/discover") == 2);
    t.discover();
    CHECK(t.session.is_modern());
    CHECK(t.events.remade == std::vector<UpstreamId>{call});
    CHECK(t.upstream.count("tools/call") == 2);
  }
}

TEST_CASE("an initialize that is refused as by a modern server makes it be asked") {
  Asking t;
  t.require();
  t.fail_probe(Asking::refusal(404));
  t.let_it_open();
  t.upstream.lose_session();
  CHECK(t.upstream.count("server/discover") == 1);
  t.upstream.fail(t.upstream.id_of("initialize"), Asking::refusal(400, not_found));
  CHECK(t.upstream.count("server/discover") == 2);
  t.discover();
  CHECK(t.session.is_modern());
}

TEST_CASE("nothing is sent to a modern upstream that its revision does not have") {
  Asking t;
  t.open_modern();
  t.advance(10min);
  CHECK(t.upstream.count("ping") == 0);
  t.upstream.fail(t.send(), SessionFixture::unreachable());
  t.advance(30s);
  CHECK(t.upstream.count("ping") == 0);
  CHECK(t.upstream.count("initialize") == 0);
}

TEST_CASE("what only reads is sent again under another id when its stream broke") {
  Asking t;
  t.open_modern();
  const UpstreamId list = t.send("tools/list", true);
  t.upstream.fail(list, SessionFixture::broken());
  CHECK(t.events.renumbered == std::vector<UpstreamId>{list});
  CHECK(t.upstream.count("tools/list") == 2);
}
