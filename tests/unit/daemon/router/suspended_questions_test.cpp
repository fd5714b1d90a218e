#include "suspended_calls_fixture.hpp"

using namespace bridge;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view elicitation = R"({"elicitation":{}})";

}  // namespace

TEST_CASE("what is asked at the same moment is asked in one result, each under a key of its own") {
  OneModern t;
  t.ask("77", t.call_id);
  t.advance(ModernToLegacy::gathering_time - 1ms);
  CHECK(t.client.lines.empty());
  t.ask("78", t.call_id, "roots/list");
  t.advance(1ms);
  const std::string line = t.client.take_line();
  CHECK(contains(line, R"("1":{"method":"sampling/createMessage")"));
  CHECK(contains(line, R"("2":{"method":"roots/list")"));
  const std::string state = t.state_in(line);
  SUBCASE("and answered by one retry") {
    t.retry_with(t.client, "1", state, R"({"2":{"roots":[]},"1":{"role":"x"},"z":{}})");
    CHECK(t.responses() == Lines{R"({"jsonrpc":"2.0","id":77,"result":{"role":"x"}})",
                                 R"({"jsonrpc":"2.0","id":78,"result":{"roots":[]}})"});
    CHECK(t.client.lines.empty());
  }
  SUBCASE("or one by one") {
    t.retry_with(t.client, "1", state, R"({"2":{"roots":[]}})");
    CHECK(t.responses() == answer_of("78", R"({"roots":[]})"));
    t.retry(t.client, "2", t.state_of(t.client));
    CHECK(t.responses() == answer_of("77"));
  }
  t.answer_call("t");
  CHECK(t.client.lines.size() == 1);
  CHECK(t.has_nothing_left());
}

TEST_CASE("a call that ends before its questions were asked is answered") {
  OneModern t;
  t.ask("77", t.call_id);
  SUBCASE("by its result") {
    t.answer_call("t");
    CHECK(contains(t.client.take_line(), R"("resultType":"complete")"));
  }
  SUBCASE("or its client leaves") { t.leave(t.client); }
  t.advance(1h);
  CHECK(t.client.lines.empty());
  CHECK(t.responses().empty());
  CHECK(t.has_nothing_left());
}

TEST_CASE("a call that fails for want of what its request did not declare says which capability") {
  ModernClient t;
  t.modern_call(t.client, "1", "t", elicitation);
  t.ask("7", t.id_of_call("t"));
  CHECK(t.is_refused());
  SUBCASE("in an error") {
    t.upstream.answer_error(t.id_of_call("t"), R"({"code":-32603,"message":"x"})");
    CHECK(contains(t.client.take_line(), R"("data":{"requiredCapabilities":{"sampling":{}}})"));
  }
  SUBCASE("or in a result that is one") {
    t.answer_call("t", R"({"content":[],"isError":true})");
    const std::string line = t.client.take_line();
    CHECK(contains(line, R"("id":1,"error":{"code":-32021)"));
    CHECK(contains(line, R"("data":{"requiredCapabilities":{"sampling":{}}})"));
  }
  SUBCASE("but not if the server can do without") {
    t.answer_call("t", R"({"content":[]})");
    CHECK(contains(t.client.take_line(), R"("resultType":"complete")"));
  }
  CHECK(t.has_nothing_left());
}

TEST_CASE("so does one of a local server, which asks without a word of what it is about") {
  LegacyUpstreamRouter t;
  FakeClient& client = t.connect("http");
  client.reachable = false;  // no client to receive a question of the session
  t.modern_call(client, "1", "t", elicitation);
  SUBCASE("if it is the only one in flight") {
    t.ask("7");
    CHECK(t.is_refused());
    t.answer_call("t", R"({"content":[],"isError":true})");
    CHECK(contains(client.take_line(), R"("data":{"requiredCapabilities":{"sampling":{}}})"));
  }
  SUBCASE("and with others that it may be about, the first of them that fails") {
    FakeClient& candidates = t.connect();
    FakeClient& other = t.connect();
    t.modern_call(candidates, "3", "v", elicitation);
    t.modern_call(other, "2", "u", elicitation);
    t.ask("7");
    CHECK(t.is_refused());
    t.answer_call("v", R"({"messages":[]})");
    CHECK(contains(candidates.take_line(), R"("resultType":"complete")"));
    t.answer_call("u", R"({"content":[1],"isError":true})");
    const std::string line = other.take_line();
    CHECK(contains(line, R"("id":2,"error":{"code":-32021)"));
    CHECK(contains(line, R"("requiredCapabilities":{"sampling":{}},"result":{"content":[1],"isE)"));
    t.answer_call("t", R"({"content":[],"isError":true})");
    CHECK(contains(client.take_line(), R"("result":{"content":[],"isError":true)"));
  }
  CHECK(t.has_nothing_left());
}

TEST_CASE("a second question is asked when the first one is answered") {
  OneModern t;
  const std::string first = t.ask_about("77");
  t.ask("78", t.call_id, "roots/list");
  CHECK(t.client.lines.empty());
  t.retry(t.client, "1", first);
  CHECK(t.responses() == answer_of("77"));
  const std::string second = t.state_of(t.client);
  t.retry(t.client, "2", second, R"({"roots":[]})");
  CHECK(t.responses() == answer_of("78", R"({"roots":[]})"));
  t.answer_call("t");
  CHECK(contains(t.client.take_line(), R"("id":2)"));
  CHECK(t.has_nothing_left());
}

TEST_CASE("one call may leave 64 questions unasked; after 16 rounds none is asked any more") {
  OneModern t;
  std::string state = t.ask_about("1");
  for (int more = 2; more <= 64; ++more) t.ask(std::to_string(more), t.call_id);
  CHECK(t.responses().empty());
  t.ask("65", t.call_id);
  CHECK(t.is_refused());
  for (unsigned round = 1; round < ModernToLegacy::max_rounds; ++round) {
    t.retry(t.client, "1", state);
    CHECK(t.responses().size() == 1);
    state = t.state_of(t.client);
  }
  t.retry(t.client, "9", state);
  CHECK(t.responses().size() == 64 - ModernToLegacy::max_rounds + 1);
  CHECK(t.client.lines.empty());
  t.ask("66", t.call_id);
  CHECK(t.is_refused());
  t.answer_call("t");
  CHECK(contains(t.client.take_line(), R"("id":9)"));
  CHECK(t.has_nothing_left());
}

TEST_CASE("only what the request itself declares is asked in a result, and only of three methods") {
  ModernClient t;
  t.modern_call(t.client, "1", "t", elicitation);
  t.ask("1", t.id_of_call("t"));
  CHECK(t.is_refused());
  t.ask("2", t.id_of_call("t"), "x/y");
  CHECK(t.is_refused());
  CHECK(t.client.lines.empty());
  t.modern(t.client, "2", "tools/list", "", everything);
  t.ask("3", t.upstream.id_of("tools/list"));
  CHECK(t.is_refused());
  // Questions that it does not support may still go to the user's other clients.
  FakeClient& helper = t.connect_answering(R"("sampling/createMessage")");
  t.ask("4", t.id_of_call("t"));
  CHECK(take_but_notices(helper).size() == 1);
}

TEST_CASE("a question that says no request goes to the call that is in flight") {
  ModernClient t;
  SUBCASE("of the only client that has one") {
    t.modern_call(t.client, "1");
    t.ask("7");
    const std::string state = t.state_of(t.client);
    // And to the suspended call, if there is no other.
    t.ask("8");
    t.retry(t.client, "2", state);
    CHECK(t.responses() == answer_of("7"));
    CHECK_FALSE(t.state_of(t.client).empty());
  }
  SUBCASE("and not to a suspended one while another may be meant that cannot be asked") {
    FakeClient& other = t.connect();
    t.modern_call(t.client, "1");
    t.ask("7");
    const std::string state = t.state_of(t.client);
    t.modern_call(other, "2", "u", "{}");
    t.ask("8");
    CHECK(t.is_refused());
    t.answer_call("u", R"({"content":[],"isError":true})");
    CHECK(contains(other.take_line(), R"("code":-32021)"));
    t.retry(t.client, "2", state);
    CHECK(t.responses() == answer_of("7"));
  }
  SUBCASE("but not if only a legacy client has one") {
    FakeClient& legacy = t.connect_answering(R"("sampling/createMessage")");
    t.call(legacy, "1", "l");
    t.ask("7");
    CHECK(legacy.lines.size() == 1);
  }
  SUBCASE("else it goes the old way") {
    t.ask("7");
    CHECK(t.is_refused());
  }
}

TEST_CASE("a question that the server takes back is not answered; the call goes on") {
  OneModern t;
  const std::string state = t.ask_about();
  t.upstream.notify("notifications/cancelled", R"({"requestId":77})");
  t.retry(t.client, "1", state);
  CHECK(t.responses().empty());
  CHECK(t.client.lines.empty());
  t.answer_call("t");
  CHECK(contains(t.client.take_line(), R"("id":1)"));
}

TEST_CASE("a stream of events has a deadline until something has come on it") {
  RouterFixture t;
  t.open_modern();
  FakeClient& client = t.connect();
  t.modern(client, "1", "events/stream", R"("name":"e",)");
  const Outgoing& sent = t.upstream.last("events/stream");
  CHECK(sent.stays_open);
  CHECK_FALSE(sent.endless);
  t.upstream.lifted.clear();
  t.upstream.notify("notifications/events/active", "{}", sent.id);
  CHECK(t.upstream.lifted == std::vector<UpstreamId>{sent.id});
}

TEST_CASE("a modern request that opens the session says what it declares, beside elicitation") {
  OneUnopened t;
  t.modern(t.client, "1", "tools/list", "", R"({"roots":{}})");
  const std::string& sent = t.upstream.last("initialize").body;
  CHECK(contains(sent, R"("roots":{})"));
  CHECK(contains(sent, R"("elicitation":{)"));
}
