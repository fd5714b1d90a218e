// BEHAVIOUR, "Eras: event streams".
#include "session/polled_events.hpp"

#include "session_fixture.hpp"

using namespace bridge;
using namespace std::chrono_literals;

namespace {

using Lines = std::vector<std::string>;

std::string event(std::string_view members) {
  return fmt::format(R"({{"jsonrpc":"2.0","method":"notifications/events/event","params":{}}})",
                     members);
}
std::string gap(std::string_view cursor) {
  return fmt::format(
      R"({{"jsonrpc":"2.0","method":"notifications/events/active","params":{{"name":"deploy","cursor":{},"truncated":true}}}})",
      cursor);
}

constexpr std::string_view discovered =
    R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}})";
constexpr std::string_view no_such_method = R"({"code":-32601,"message":"Method not found"})";

/// A modern server that offers no stream of events.
struct Polling : SessionFixture {
  Polling() : SessionFixture({.events = {{"deploy", R"({"env":"x"})"}}}) {
    events.side = Era::modern;
    upstream.modern_possible = true;
    require();
    upstream.answer(upstream.id_of("server/discover"), discovered);
    REQUIRE(session.side(Era::modern).is_open());
    upstream.answer_error(upstream.id_of("events/stream"), no_such_method);
  }
  void answer(std::string_view polled_result) {
    upstream.answer(upstream.id_of("events/poll"), polled_result);
  }
  std::size_t polls() const { return upstream.count("events/poll"); }
  std::string_view polled(std::string_view member) const {
    const auto params = find_member(upstream.sent.back().body, "params");
    return find_member(params.value_or("{}"), member).value_or("");
  }
};

}  // namespace

TEST_CASE("the result of a poll is notifications, a cursor and the time until the next one") {
  struct Row {
    std::string_view result;
    Lines notifications;
    std::string_view cursor;
    std::chrono::milliseconds interval;
  };
  for (const Row& row : {
           Row{R"({"events":[],"cursor":"b"})", {}, R"("b")", 30s},
           Row{R"({"events":[],"cursor":null,"nextPollMs":5000})", {}, "", 5s},
           Row{R"({"events":[]})", {}, "", 30s},
           Row{R"({"events":[{"n": 0.10}],"cursor":"b","nextPollMs":2000})",
               {event(R"({"n": 0.10})")},
               R"("b")",
               2s},
           // Its bounds.
           Row{R"({"events":[],"cursor":"b","nextPollMs":0})", {}, R"("b")", 1s},
           Row{R"({"events":[],"cursor":"b","nextPollMs":-1})", {}, R"("b")", 30s},
           Row{R"({"events":[],"cursor":"b","nextPollMs":"9"})", {}, R"("b")", 30s},
           Row{R"({"events":[],"cursor":"b","nextPollMs":18446744073709551615})", {}, R"("b")", 1h},
           // A gap, before the events.
           Row{R"({"events":[{"n":1},{"n":2}],"cursor":"b","truncated":true,"nextPollMs":2000})",
               {gap(R"("b")"), event(R"({"n":1})"), event(R"({"n":2})")},
               R"("b")",
               2s},
           Row{R"({"events":[],"truncated":true,"nextPollMs":2000})", {gap("null")}, "", 2s},
           // More, if something changed.
           Row{R"({"events":[{}],"cursor":"b","hasMore":true,"nextPollMs":2000})",
               {event("{}")},
               R"("b")",
               0s},
           Row{R"({"events":[{}],"cursor":"a","hasMore":true,"nextPollMs":2000})",
               {event("{}")},
               R"("a")",
               2s},
           Row{R"({"events":[],"cursor":"b","hasMore":true,"nextPollMs":2000})", {}, R"("b")", 2s},
           Row{R"({"events":[],"cursor":"b","truncated":true,"hasMore":true,"nextPollMs":2000})",
               {gap(R"("b")")},
               R"("b")",
               2s},
           Row{R"({"events":[{}],"cursor":null,"hasMore":true,"nextPollMs":2000})",
               {event("{}")},
               "",
               2s},
       }) {
    CAPTURE(row.result);
    const auto polled = read_polled_events(row.result, "deploy", R"("a")");
    REQUIRE(polled);
    CHECK(polled->notifications == row.notifications);
    CHECK(polled->cursor == row.cursor);
    CHECK(polled->interval == row.interval);
  }
  const std::string longest(PolledEvents::max_cursor - 2, 'c');
  CHECK(read_polled_events(fmt::format(R"({{"events":[],"cursor":"{}"}})", longest), "d", ""));
  for (const std::string& malformed :
       {std::string("{}"), std::string(R"({"events":{}})"), std::string(R"({"events":[1]})"),
        std::string(R"({"events":[],"cursor":7})"), std::string("[]"), std::string("null"),
        fmt::format(R"({{"events":[],"cursor":"{}c"}})", longest)}) {
    CAPTURE(malformed.substr(0, 40));
    CHECK_FALSE(read_polled_events(malformed, "deploy", ""));
  }
}

TEST_CASE("events without a stream are polled with the cursor, at the server's interval") {
  Polling t;
  CHECK(t.polls() == 1);
  CHECK(t.polled("cursor") == "null");
  CHECK(t.polled("arguments") == R"({"env":"x"})");
  t.answer(R"({"events":[],"cursor":"a","nextPollMs":5000})");
  t.advance(4999ms);
  CHECK(t.polls() == 1);
  t.advance(1ms);
  CHECK(t.polls() == 2);
  CHECK(t.polled("cursor") == R"("a")");
  t.answer(R"({"events":[{"n":1}],"cursor":"b","hasMore":true})");
  t.advance(0ms);
  CHECK(t.polls() == 3);
  CHECK(t.polled("cursor") == R"("b")");
  t.answer(R"({"events":[{"n":2}],"cursor":"c","truncated":true,"nextPollMs":5000})");
  CHECK(t.events.messages == Lines{event(R"({"n":1})"), gap(R"("c")"), event(R"({"n":2})")});
  // An unanswered poll is the only one.
  t.advance(5s);
  CHECK(t.polls() == 4);
  t.advance(30s);
  CHECK(t.polls() == 4);
  // In another session the stream is tried again, then polled from here.
  t.upstream.answer_streams = false;
  t.upstream.lose_session();
  t.upstream.answer_streams = true;
  t.require();
  t.upstream.answer(t.upstream.id_of("server/discover"), discovered);
  CHECK(t.upstream.count("events/stream") == 2);
  t.upstream.fail(t.upstream.id_of("events/stream"), SessionFixture::refusal(404, no_such_method));
  CHECK(t.polls() == 5);
  CHECK(t.polled("cursor") == R"("c")");
}

TEST_CASE("a poll that fails is repeated, one that is refused is not") {
  struct Row {
    std::string_view name;
    void (*end)(Polling& t);
    bool is_repeated;
  };
  const auto error = [](int code) { return fmt::format(R"({{"code":{},"message":"no"}})", code); };
  static const auto end_with = [](Polling& t, const std::string& text) {
    t.upstream.answer_error(t.upstream.id_of("events/poll"), text);
  };
  static const std::string internal = error(-32603), unknown = error(-32011), full = error(-32013);
  static const auto fail = [](Polling& t, Failure failure) {
    t.upstream.fail(t.upstream.id_of("events/poll"), std::move(failure));
  };
  for (const Row& row : {
           Row{"malformed", [](Polling& t) { t.answer("{}"); }, true},
           Row{"internal", [](Polling& t) { end_with(t, internal); }, true},
           Row{"full", [](Polling& t) { end_with(t, full); }, true},
           Row{"full, with a status",
               [](Polling& t) { fail(t, SessionFixture::refusal(400, full)); }, true},
           Row{"429", [](Polling& t) { fail(t, SessionFixture::status(429)); }, true},
           Row{"503", [](Polling& t) { fail(t, SessionFixture::status(503)); }, true},
           Row{"broken", [](Polling& t) { fail(t, SessionFixture::broken()); }, true},
           Row{"unknown", [](Polling& t) { end_with(t, unknown); }, false},
           Row{"unknown, with a status",
               [](Polling& t) { fail(t, SessionFixture::refusal(404, unknown)); }, false},
           Row{"no polls either", [](Polling& t) { end_with(t, std::string(no_such_method)); },
               false},
           Row{"400", [](Polling& t) { fail(t, SessionFixture::status(400)); }, false},
       }) {
    CAPTURE(row.name);
    Polling t;
    row.end(t);
    CHECK(t.polls() == 1);  // not at once
    t.advance(60s);
    CHECK((t.polls() > 1) == row.is_repeated);
    CHECK(t.events.messages.empty());
  }
}
