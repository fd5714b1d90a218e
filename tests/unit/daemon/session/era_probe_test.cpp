// Which eras the upstream supports, found out by what clients need, and what is remembered of it
// (BEHAVIOUR, "Eras: what a server speaks" and "Eras: a server of both").
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
  bool speaks(Era era) const { return session.side(era).is_open() && session.side_for(era) == era; }
  void require(Era client) {
    in_turn([&] { session.require(client); });
  }
  void open_legacy() {
    require(Era::legacy);
    let_it_open();
    REQUIRE(session.side(Era::legacy).is_open());
  }
  void discover() { upstream.answer(upstream.id_of("server/discover"), discovered); }
  void open_modern() {
    require(Era::modern);
    discover();
    REQUIRE(session.side(Era::modern).is_open());
  }
  void refuse_initialize(Failure failure) {
    upstream.fail(upstream.id_of("initialize"), std::move(failure));
  }
  void fail_probe(Failure failure) {
    upstream.fail(upstream.id_of("server/discover"), std::move(failure));
  }
};

}  // namespace

TEST_CASE("a modern client's need opens a modern session with one request") {
  Asking t;
  t.open_modern();
  CHECK(t.upstream.methods() == Methods{"server/discover"});
  const Outgoing& probe = t.upstream.sent.front();
  CHECK(probe.probes);
  CHECK_FALSE(probe.opens_session);
  CHECK_FALSE(probe.notes.stateful);
  CHECK(probe.body.find(R"("io.modelcontextprotocol/protocolVersion":"2026-07-28")") !=
        std::string::npos);
  CHECK(probe.headers == Methods{"Mcp-Method: server/discover"});
  CHECK(t.upstream.stateless_version == "2026-07-28");
  CHECK(t.upstream.sessions_opened == 0);
  CHECK(t.speaks(Era::modern));
  CHECK(t.session.serving(Era::modern).server()->era() == Era::modern);
  CHECK(t.session.eras().name() == "modern");
}

TEST_CASE("a legacy client's need opens a legacy session, and nothing else is asked") {
  Asking t;
  t.open_legacy();
  CHECK(t.upstream.methods() == Methods{"initialize", "notifications/initialized"});
  CHECK(t.speaks(Era::legacy));
  CHECK(t.session.eras().name() == "legacy");
}

TEST_CASE("a client that asks for the session while its request is answered opens no other one") {
  Asking t;
  t.events.on_message = [&t] { t.session.require(); };
  t.open_with_clients(R"({"protocolVersion":"2025-06-18","capabilities":{}})");
  t.refuse_initialize(Asking::refusal(0, not_found));
  t.discover();
  CHECK(t.session.is_open());
  CHECK(t.upstream.methods() == Methods{"initialize", "server/discover"});
}

TEST_CASE("a refusal that is not one of a modern server means a legacy one, which is remembered") {
  struct Row {
    int status;  ///< 0: an answer
    std::string_view error;
  };
  for (const Row& row :
       {Row{0, not_found}, Row{400, not_found}, Row{404, ""}, Row{405, ""}, Row{400, ""}}) {
    CAPTURE(row.status);
    Asking t;
    t.require(Era::modern);
    if (row.status == 0) t.upstream.answer_error(t.upstream.id_of("server/discover"), row.error);
    if (row.status != 0) t.fail_probe(Asking::refusal(row.status, row.error));
    CHECK(t.upstream.methods() == Methods{"server/discover", "initialize"});
    t.let_it_open();
    CHECK(t.session.side_for(Era::modern) == Era::legacy);
    CHECK(t.session.eras().name() == "legacy");
    t.upstream.lose_session();
    t.require(Era::modern);
    CHECK(t.upstream.count("server/discover") == 1);
    CHECK(t.upstream.count("initialize") == 2);
  }
}

TEST_CASE("a refusal of initialize as by a modern server means one, which is remembered") {
  struct Row {
    int status;
    std::string_view error;
  };
  for (const Row& row :
       {Row{0, not_found}, Row{400, ""}, Row{404, ""}, Row{405, ""},
        Row{400, R"({"code":-32020,"message":"x"})"}, Row{400, R"({"code":-32021,"message":"x"})"},
        Row{400, R"({"code":-32022,"message":"x","data":{"supported":["2026-07-28"]}})"},
        Row{400, R"({"code":-32602,"message":"_meta lacks io.modelcontextprotocol/x"})"}}) {
    CAPTURE(row.status);
    CAPTURE(row.error);
    Asking t;
    t.require(Era::legacy);
    t.refuse_initialize(Asking::refusal(row.status, row.error));
    CHECK(t.upstream.methods() == Methods{"initialize", "server/discover"});
    t.discover();
    CHECK(t.session.side_for(Era::legacy) == Era::modern);
    CHECK(t.session.serving(Era::legacy).is_open());
    CHECK(t.session.eras().name() == "modern");
    CHECK(t.session.is_ready());
  }
}

TEST_CASE("a refusal of initialize that speaks of no era is the server's refusal") {
  for (const std::string_view error :
       {R"({"code":-32602,"message":"bad params"})",
        R"({"code":-32022,"message":"x","data":{"supported":["2025-03-26","2026-07-28"]}})"}) {
    CAPTURE(error);
    Asking t;
    t.require(Era::legacy);
    t.refuse_initialize(Asking::refusal(0, error));
    CHECK(t.upstream.methods() == Methods{"initialize"});
    CHECK(t.session.state() == Session::State::refused);
  }
}

TEST_CASE("what decides nothing is asked again with the next try") {
  for (const Era era : {Era::legacy, Era::modern}) {
    for (const int status : {429, 503}) {
      CAPTURE(status);
      const std::string_view method = era == Era::modern ? "server/discover" : "initialize";
      Asking t;
      t.events.side = era;
      t.require(era);
      t.upstream.fail(t.upstream.id_of(method), Asking::status(status));
      CHECK(t.upstream.methods() == Methods{std::string(method)});
      CHECK_FALSE(t.session.is_ready());
      t.events.frames = true;
      t.require(era);
      t.time_until([&] { return t.upstream.count(method) == 2; }, 600ms);
      CHECK(t.upstream.sent.size() == 2);
    }
  }
}

TEST_CASE("another 5xx, or two connections that were closed, say legacy for this session alone") {
  for (const bool closed : {false, true}) {
    CAPTURE(closed);
    Asking t;
    t.require(Era::modern);
    if (closed) {
      t.fail_probe(SessionFixture::broken());
      CHECK(t.upstream.count("server/discover") == 2);
      t.fail_probe(SessionFixture::broken());
    } else {
      t.fail_probe(Asking::status(500));
    }
    t.let_it_open();
    CHECK(t.session.side_for(Era::modern) == Era::legacy);
    const std::size_t asked = t.upstream.count("server/discover");
    t.upstream.lose_session();
    t.require(Era::modern);
    CHECK(t.upstream.count("server/discover") == asked + 1);
  }
}

TEST_CASE("a local server that stays silent is sent the other handshake as well, after 2 s") {
  for (const Era first : {Era::modern, Era::legacy})
    for (const Era decided : {Era::modern, Era::legacy}) {
      CAPTURE(name_of(first));
      CAPTURE(name_of(decided));
      const auto handshake = [](Era era) {
        return era == Era::modern ? "server/discover" : "initialize";
      };
      Asking t;
      t.upstream.answer_streams = false;
      t.require(first);
      t.advance(1999ms);
      CHECK(t.upstream.count(handshake(other_than(first))) == 0);
      t.advance(1ms);
      CHECK(t.upstream.count(handshake(other_than(first))) == 1);
      // The first result decides.
      decided == Era::modern ? t.discover() : t.let_it_open();
      CHECK(t.session.side_for(other_than(decided)) == decided);
      CHECK_FALSE(t.upstream.is_under_way(t.upstream.id_of(handshake(other_than(decided)))));
      CHECK(t.session.side(decided).is_open());
    }
}

TEST_CASE("a local server speaks one era: that of its first client") {
  for (const Era first : {Era::legacy, Era::modern}) {
    Asking t;
    t.upstream.answer_streams = false;
    first == Era::modern ? t.open_modern() : t.open_legacy();
    const std::size_t sent = t.upstream.sent.size();
    t.require(other_than(first));
    CHECK(t.upstream.sent.size() == sent);
    CHECK(t.session.side_for(other_than(first)) == first);
    CHECK(t.session.eras().name() == name_of(first));
  }
}

TEST_CASE("a local server that ends while it is opened again still speaks what it spoke") {
  Asking t;
  t.upstream.answer_streams = false;
  t.open_modern();
  t.upstream.lose_session();
  t.require(Era::modern);
  t.fail_probe(failure_of(ErrorKind::closed, Delivered::unknown, "it ended"));
  t.advance(1s);
  REQUIRE(t.upstream.count("initialize") == 1);
  t.refuse_initialize(Asking::refusal(
      0, R"({"code":-32022,"message":"Unsupported","data":{"supported":["2026-07-28"]}})"));
  t.advance(1s);
  t.discover();
  CHECK(t.session.side(Era::modern).is_open());
  CHECK(t.session.eras().name() == "modern");
}

TEST_CASE("what is told of the era is not asked") {
  Asking legacy({.era = EraOption::legacy});
  legacy.require(Era::modern);
  CHECK(legacy.upstream.methods() == Methods{"initialize"});

  Asking modern({.era = EraOption::modern});
  modern.require(Era::legacy);
  modern.fail_probe(Asking::status(404));
  CHECK(modern.session.state() == Session::State::refused);
  CHECK(modern.upstream.count("initialize") == 0);
}

TEST_CASE("a server without a common revision is refused") {
  Asking t;
  t.require(Era::modern);
  t.fail_probe(Asking::refusal(
      400, R"({"code":-32022,"message":"Unsupported","data":{"supported":["2027-01-01"]}})"));
  CHECK(t.session.state() == Session::State::refused);
  CHECK(t.upstream.count("initialize") == 0);
}

TEST_CASE("a server that speaks neither era is refused as it refused first, and asked again") {
  for (const Era first : {Era::legacy, Era::modern}) {
    Asking t;
    t.require(first);
    const Failure refusal = Asking::status(first == Era::legacy ? 404 : 410);
    if (first == Era::legacy) {
      t.refuse_initialize(refusal);
      t.fail_probe(Asking::status(405));
    } else {
      t.fail_probe(refusal);
      t.refuse_initialize(Asking::status(405));
    }
    REQUIRE(t.events.refusals.size() == 1);
    CHECK(t.events.refusals.front().status == refusal.status);
    CHECK(t.upstream.sent.size() == 2);
    CHECK(t.session.eras().name().empty());
    t.require(first);
    CHECK(t.upstream.count(first == Era::legacy ? "initialize" : "server/discover") == 2);
  }
}

TEST_CASE("a client's initialize that a modern server refuses is answered from what it discovers") {
  for (const bool open_already : {false, true}) {
    CAPTURE(open_already);
    Asking t;
    if (open_already) t.open_modern();
    const UpstreamId id =
        t.open_with_clients(R"({"protocolVersion":"2025-06-18","capabilities":{}})");
    t.upstream.answer_error(id, not_found);
    if (!open_already) t.discover();
    REQUIRE(t.events.messages.size() == 1);
    const std::string& answer = t.events.messages.front();
    CHECK(answer.find(fmt::format(R"("id":{})", value_of(id))) != std::string::npos);
    CHECK(answer.find(R"("protocolVersion":"2025-06-18")") != std::string::npos);
    CHECK(t.upstream.count("server/discover") == 1);
  }
}

TEST_CASE("a server that was upgraded under us is found so, and the request goes to it again") {
  for (const std::string_view error :
       {R"({"code":-32020,"message":"x"})", R"({"code":-32022,"message":"x"})",
        R"({"code":-32602,"message":"_meta lacks io.modelcontextprotocol/protocolVersion"})"}) {
    CAPTURE(error);
    Asking t;
    t.require(Era::modern);
    t.fail_probe(Asking::status(404));
    t.let_it_open();
    const UpstreamId call = t.send();
    t.upstream.fail(call, Asking::refusal(400, error));
    CHECK(t.upstream.count("initialize") == 2);
    t.refuse_initialize(Asking::refusal(400, error));
    CHECK(t.upstream.count("server/discover") == 2);
    t.discover();
    CHECK(t.session.side_for(Era::legacy) == Era::modern);
    CHECK(t.session.eras().name() == "modern");
    CHECK(t.events.remade == std::vector<UpstreamId>{call});
    CHECK(t.upstream.count("tools/call") == 2);
    CHECK(t.events.count("replaced") == 1);
  }
}

TEST_CASE("a session that was refused by a gateway is opened again as it was") {
  Asking t;
  t.open_with_clients(R"({"capabilities":{"roots":{}}})");
  t.let_it_open();
  t.upstream.lose_session();
  t.refuse_initialize(Asking::status(404));
  t.fail_probe(Asking::status(404));
  CHECK(t.session.state() == Session::State::refused);
  t.require(Era::legacy);
  CHECK(t.upstream.last("initialize").body.find(R"("roots":{})") != std::string::npos);
  t.let_it_open();
  CHECK(t.events.count("replaced") == 1);
}

TEST_CASE("a server that was replaced by an older one is found so") {
  Asking t;
  t.events.side = Era::modern;
  t.open_modern();
  const UpstreamId call = t.send();
  t.upstream.fail(call, Asking::status(404));
  CHECK(t.upstream.count("server/discover") == 2);
  t.fail_probe(Asking::status(404));
  CHECK(t.upstream.count("initialize") == 1);
  t.let_it_open();
  CHECK(t.session.side_for(Era::modern) == Era::legacy);
  CHECK(t.events.remade == std::vector<UpstreamId>{call});
  CHECK(t.upstream.count("tools/call") == 2);
}

TEST_CASE("a server of both serves each client in its own era, side by side") {
  Asking t;
  t.open_modern();
  CHECK(t.session.ring_source() == Era::modern);
  t.open_legacy();
  CHECK(t.session.eras().name() == "both");
  CHECK(t.speaks(Era::legacy));
  CHECK(t.speaks(Era::modern));
  CHECK(t.session.ring_source() == Era::legacy);
  const auto send = [&t](Era side) {
    Outgoing message;
    message.id = t.ids.next();
    message.body =
        fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"tools/call"}})", value_of(message.id));
    t.in_turn([&] { t.session.side(side).sender().send(std::move(message)); });
    return t.upstream.last("tools/call").notes.stateful;
  };
  CHECK(send(Era::legacy));
  CHECK_FALSE(send(Era::modern));
  SUBCASE("a lost legacy session leaves the modern one as it is") {
    const std::size_t over = t.upstream.sessions_over;
    t.upstream.lose_session();
    CHECK(t.upstream.sessions_over > over);
    CHECK(t.session.side(Era::modern).is_open());
    CHECK_FALSE(t.session.side(Era::legacy).is_open());
    t.let_it_open();
    CHECK(t.session.eras().name() == "both");
    CHECK(t.upstream.count("server/discover") == 1);
  }
  SUBCASE("and the other way round") {
    const std::size_t over = t.upstream.sessions_over;
    t.events.side = Era::modern;
    t.upstream.fail(t.send(), Asking::status(404));
    CHECK_FALSE(t.session.side(Era::modern).is_open());
    CHECK(t.session.side(Era::legacy).is_open());
    CHECK(t.upstream.sessions_over == over);
    t.discover();
    CHECK(t.session.side(Era::modern).is_open());
  }
}

TEST_CASE("with --event the modern side is opened beside a legacy session, if there is one") {
  Asking t({.events = {{"deploy", ""}}});
  t.open_legacy();
  CHECK(t.upstream.count("server/discover") == 1);
  SUBCASE("there is: its events are streamed") {
    t.discover();
    CHECK(t.upstream.count("events/stream") == 1);
  }
  SUBCASE("there is none: it is not asked for at the next opening") {
    t.fail_probe(Asking::status(404));
    t.upstream.lose_session();
    t.let_it_open();
    CHECK(t.upstream.count("initialize") == 2);
    CHECK(t.upstream.count("server/discover") == 1);
  }
}

TEST_CASE("nothing is sent to a modern upstream that its revision does not have") {
  Asking t;
  t.events.side = Era::modern;
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
  t.events.side = Era::modern;
  t.open_modern();
  const UpstreamId list = t.send("tools/list", true);
  t.upstream.fail(list, SessionFixture::broken());
  CHECK(t.events.renumbered == std::vector<UpstreamId>{list});
  CHECK(t.upstream.count("tools/list") == 2);
}
