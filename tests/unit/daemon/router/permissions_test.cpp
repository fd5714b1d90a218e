#include "router/permissions.hpp"

#include <unistd.h>

#include "policies.hpp"
#include "router_fixture.hpp"

using namespace bridge;
using namespace std::chrono_literals;

namespace {

constexpr uid_t agent = 4242;

struct Ruled : RouterFixture {
  explicit Ruled(const std::string& rules) {
    open();
    take(rules, false);
  }
  void take(const std::string& rules, bool tells = true) {
    in_turn([&] { router.take_policy(policy_of(rules), tells); });
  }
  FakeClient& connect_agent() { return connect("unix", agent); }
  std::string listed(std::string_view method, std::string_view result) {
    client.take_lines();
    request(client, "7", method);
    upstream.answer(upstream.id_of(method), std::string(result));
    return client.take_line();
  }
  FakeClient& client = connect_agent();
};

}  // namespace

TEST_CASE("a call that the rule does not allow is answered, and does not reach the server") {
  Ruled t(R"({"uid":4242,"tools":["read_*"]})");
  t.call(t.client, "1", "rm");
  const std::string answer = t.client.take_line();
  CHECK(contains(answer, R"("code":-32000)"));
  CHECK(contains(answer, R"("kind":"denied","delivered":"no")"));
  CHECK(contains(answer, "tool 'rm' is not allowed for this user"));
  CHECK_FALSE(contains(answer, "policy.json"));
  CHECK(t.calls().empty());
  t.call(t.client, "2", "read_file");
  CHECK(t.calls() == Lines{"read_file"});
  CHECK(t.router.permissions().counts().tool == 1);
  CHECK_FALSE(t.router.statistics().last_error);
}

TEST_CASE("a method without an id is judged as with one") {
  Ruled t(R"({"uid":4242,"methods":[]})");
  t.notify(t.client, "admin/reset");
  CHECK(t.upstream.count("admin/reset") == 0);
  t.notify(t.client, roots_changed);
  CHECK(t.upstream.count(roots_changed) == 1);
}

TEST_CASE("the daemon's own user is told the file and the line") {
  Ruled t("{\"tools\":[]}");
  FakeClient& client = t.connect("unix", geteuid());
  t.call(client, "1", "rm");
  CHECK(contains(client.take_line(), "/etc/policy.json, line 1"));
}

TEST_CASE("a peer without a rule may ping, open its session and ask for the status") {
  Ruled t(R"({"uid":1})");
  t.initialize(t.client, "1", R"({"sampling":{}})");
  CHECK(contains(t.client.take_line(), R"("result")"));
  t.request(t.client, "2", "bridge/status");
  CHECK(contains(t.client.take_line(), R"("result")"));
  for (const char* method : {"bridge/tool", "bridge/notifications", "bridge/metrics", "bridge/jobs",
                             "tools/list", "resources/list", "logging/setLevel"}) {
    INFO(method);
    const auto before = t.router.permissions().counts().no_rule;
    t.request(t.client, "3", method);
    CHECK(contains(t.client.take_line(), R"("kind":"denied")"));
    CHECK(t.router.permissions().counts().no_rule == before + 1);
  }
  CHECK(t.router.permissions().counts().no_rule == 7);
  t.notify(t.client, roots_changed);
  CHECK(t.upstream.count(roots_changed) == 0);
}

TEST_CASE("what is hidden is missing from every list, on each page") {
  Ruled t(R"({"tools":["a*"],"prompts":["p"],"resources":["docs://*"]})");
  struct Row {
    std::string_view method, listed, shown;
  };
  for (const Row& row :
       {Row{"tools/list",
            R"({"tools":[{"name":"a1"},{"name":"b"},{"name":"a2"}],"nextCursor":"x"})",
            R"({"tools":[{"name":"a1"},{"name":"a2"}],"nextCursor":"x"})"},
        Row{"tools/list", R"({"tools":[{"name":"b"},{"noname":1}]})", R"({"tools":[]})"},
        Row{"prompts/list", R"({"prompts":[{"name":"q"},{"name":"p"}]})",
            R"({"prompts":[{"name":"p"}]})"},
        Row{"resources/list", R"({"resources":[{"uri":"docs://a"},{"uri":"file:///b"}]})",
            R"({"resources":[{"uri":"docs://a"}]})"},
        Row{"resources/templates/list",
            R"({"resourceTemplates":[{"uriTemplate":"docs://{x}"},{"uriTemplate":"x"}]})",
            R"({"resourceTemplates":[{"uriTemplate":"docs://{x}"}]})"}})
    CHECK(contains(t.listed(row.method, row.listed), fmt::format(R"("result":{})", row.shown)));
}

TEST_CASE("the kept list is the server's, whoever asked for it") {
  Ruled t(R"({"uid":4242,"tools":["a"]},{"uid":1})");
  t.listed("tools/list", R"({"tools":[{"name":"a"},{"name":"b"}]})");
  CHECK(t.router.tools().names() == std::vector<std::string_view>{"a", "b"});
}

TEST_CASE("read-only tools are those that the kept list says") {
  Ruled t(R"({"tools":"read-only"})");
  t.call(t.client, "1", "get");
  CHECK(contains(t.client.take_line(), "readOnlyHint"));
  CHECK(contains(
      t.listed("tools/list",
               R"({"tools":[{"name":"get","annotations":{"readOnlyHint":true}},{"name":"put"}]})"),
      R"("tools":[{"name":"get","annotations":{"readOnlyHint":true}}]})"));
  t.call(t.client, "2", "get");
  t.call(t.client, "3", "put");
  CHECK(t.calls() == Lines{"get"});
}

TEST_CASE("a call waits for the list of tools that it is judged by, which is fetched once") {
  struct Row {
    const char* of;
    const char* tool;
    const char* list;  // what the server answers; empty: the fetch has failed
    Lines sent;
    const char* told;  // to the client; empty: nothing
  };
  const char* const known = R"({"tools":[{"name":"get","annotations":{"readOnlyHint":true}}]})";
  for (const Row& row : {Row{"a tool that only reads", "get", known, {"get"}, ""},
                         Row{"another tool", "put", known, {}, "readOnlyHint"},
                         Row{"a failed fetch", "get", "", {}, "it is away"}}) {
    INFO(row.of);
    Ruled t(R"({"tools":"read-only"})");
    t.control.lists_tools = true;
    FakeClient& other = t.connect_agent();
    t.call(t.client, "1", row.tool);
    t.call(other, "1", row.tool);
    CHECK(t.client.lines.empty());
    CHECK(t.calls().empty());
    REQUIRE(t.control.listings.size() == 1);
    if (*row.list != '\0') {
      FakeClient& lister = t.connect_agent();
      t.request(lister, "7", "tools/list");
      t.upstream.answer(t.upstream.id_of("tools/list"), row.list);
    }
    t.in_turn([&] {
      t.control.listings.front()(
          *row.list != '\0' ? R"({"jsonrpc":"2.0","id":null,"result":{}})"
                            : R"({"jsonrpc":"2.0","id":null,"error":{"message":"it is away"}})");
    });
    Lines both = row.sent;
    both.insert(both.end(), row.sent.begin(), row.sent.end());
    CHECK(t.calls() == both);
    for (FakeClient* const client : {&t.client, &other}) {
      if (*row.told == '\0') continue;
      const std::string answer = client->take_line();
      CHECK(contains(answer, R"("kind":"denied","delivered":"no")"));
      CHECK(contains(answer, row.told));
    }
    CHECK(t.control.listings.size() == 1);
  }
}

TEST_CASE(
    "a call that waits for the list of tools can be cancelled, and the list is not awaited long") {
  Ruled t(R"({"tools":"read-only"})");
  t.control.lists_tools = true;
  t.call(t.client, "1", "get");
  t.cancel(t.client, "1");
  t.call(t.client, "2", "get");
  for (std::size_t tries = 0; tries < t.control.listings.size(); ++tries) {
    const Control::Reply done = t.control.listings[tries];
    t.in_turn([&] { done(R"({"jsonrpc":"2.0","id":null,"result":{}})"); });  // not kept
  }
  CHECK(t.control.listings.size() == 3);
  const std::string answer = t.client.take_line();
  CHECK(contains(answer, R"("id":2)"));
  CHECK(contains(answer, "changes all the time"));
  CHECK(t.calls().empty());
}

// What a policy allows is asked whenever it matters, not when the client has said or begun it.

TEST_CASE("a client takes part in the server's requests exactly while it has a rule") {
  constexpr std::string_view with_rule = R"({"uid":4242})";
  constexpr std::string_view without = R"({"uid":1})";
  struct Row {
    const char* of;
    std::function<void(Ruled&)> declare;
  };
  const Row rows[] = {
      {"by its initialize",
       [](Ruled& t) {
         t.initialize(t.client, "1", R"({"sampling":{}})");
         t.notify(t.client, "notifications/initialized");
       }},
      {"by bridge/answers",
       [](Ruled& t) {
         t.notify(t.client, "bridge/answers", R"({"methods":["sampling/createMessage"]})");
         t.request(t.client, "1", "tools/list");
       }},
  };
  for (const Row& row : rows) {
    INFO(row.of);
    Ruled t{std::string(without)};
    row.declare(t);
    t.client.take_lines();
    t.ask("1");
    CHECK(t.client.lines.empty());
    CHECK(t.responses().empty());  // parked, as with nobody connected
    t.take(std::string(with_rule));
    const std::uint64_t first = asked(t.client);
    REQUIRE(first != 0);
    t.take(std::string(without));
    CHECK(contains(t.client.take_line(), "notifications/cancelled"));
    t.respond(t.client, first, R"("stolen")");
    CHECK(t.responses().empty());
    t.take(std::string(with_rule));
    t.respond(t.client, asked(t.client), R"("mine")");
    CHECK(t.responses().size() == 1);
  }
}

TEST_CASE("what waits when its client loses its rule is denied") {
  Ruled t("{}");
  t.request(t.client, "1", "bridge/later");  // a bridge/collect, for example
  t.congest(t.client);
  t.request(t.client, "2", "bridge/metrics");
  t.take(R"({"uid":1})");
  CHECK(contains(t.client.take_line(), R"("id":1,"error")"));
  CHECK(t.control.cancelled == Lines{"1"});
  t.in_turn([&] { t.control.later.front()(); });
  CHECK(t.client.lines.empty());
  t.congest(t.client, false);
  CHECK(contains(t.client.take_line(), R"("kind":"denied")"));
  CHECK_FALSE(t.router.from_clients().http_callers_may_look());
  t.take("{}");
  CHECK(t.router.from_clients().http_callers_may_look());
}

TEST_CASE("a notification that waits when its client loses its rule is dropped") {
  Ruled t(R"({"inflight":1})");
  t.call(t.client, "1", "a");
  t.call(t.client, "2", "b");
  t.notify(t.client, roots_changed);
  t.take(R"({"uid":1})");
  t.answer_call("a");
  CHECK(t.upstream.count(roots_changed) == 0);
}

TEST_CASE("a rate is of the user, over all its connections, and what is denied takes no token") {
  Ruled t(R"({"uid":4242,"tools":["t"],"rate":"2/10s"},{"uid":1})");
  FakeClient& one = t.client;
  FakeClient& other = t.connect_agent();
  t.call(one, "1", "rm");
  t.call(one, "2", "t");
  t.call(other, "3", "t");
  one.take_lines();
  t.call(one, "4", "t");
  const std::string answer = one.take_line();
  CHECK(contains(answer, R"("kind":"rate_limited","delivered":"no","retryAfterMs":5000)"));
  CHECK(t.calls().size() == 2);
  FakeClient& third = t.connect("unix", 1);
  t.call(third, "5", "t");
  CHECK(t.calls().size() == 3);
  t.advance(5s);
  t.call(other, "6", "t");
  CHECK(t.calls().size() == 4);
  CHECK(t.router.permissions().counts().rate == 1);
}

TEST_CASE("the buckets are saved for an upgrade until they are full") {
  Ruled t(R"({"rate":"1/10s"})");
  t.call(t.client, "1");
  const auto saved = t.router.permissions().save_rates();
  REQUIRE(saved.size() == 1);
  CHECK(saved.begin()->first.uid == agent);
  t.advance(20s);
  CHECK(t.router.permissions().save_rates().empty());
}

TEST_CASE("inflight bounds a user's requests, and the next one goes when one of them has ended") {
  Ruled t(R"({"uid":4242,"inflight":2},{"uid":1})");
  FakeClient& one = t.client;
  FakeClient& other = t.connect_agent();
  t.call(one, "1", "a");
  t.call(one, "2", "b");
  t.call(one, "3", "c");
  t.call(other, "4", "d");
  FakeClient& third = t.connect("unix", 1);
  t.call(third, "5", "e");
  CHECK(t.calls() == Lines{"a", "b", "e"});
  t.answer_call("a");
  CHECK(t.calls() == Lines{"a", "b", "e", "c"});
  t.answer_call("b");
  CHECK(t.calls() == Lines{"a", "b", "e", "c", "d"});
}

TEST_CASE("who has left while it waited for a slot of its user's holds nobody up") {
  Ruled t(R"({"inflight":1})");
  FakeClient& one = t.client;
  FakeClient& gone = t.connect_agent();
  FakeClient& other = t.connect_agent();
  t.call(one, "1", "a");
  t.call(gone, "2", "b");
  t.call(other, "3", "c");
  t.leave(gone);
  t.answer_call("a");
  CHECK(t.calls() == Lines{"a", "c"});
}

TEST_CASE("another policy holds at once, also for what waits, and is told as changed lists") {
  Ruled t(R"({"inflight":1})");
  t.call(t.client, "1", "a");
  t.call(t.client, "2", "rm");
  const auto told = t.feed.ring().size();
  t.take(R"({"tools":["a"]})");
  CHECK(t.feed.ring().size() == told + 1);  // the server declares that its tools change
  const std::string answer = t.client.take_line();
  CHECK(contains(answer, R"("id":2)"));
  CHECK(contains(answer, R"("kind":"denied")"));
  t.call(t.client, "3", "rm");
  CHECK(contains(t.client.take_line(), R"("kind":"denied")"));
  t.take(R"({})");
  t.call(t.client, "4", "rm");
  CHECK(t.calls() == Lines{"a", "rm"});
}

TEST_CASE("a change of a hidden resource is not shown to the client") {
  Ruled t(R"({"resources":["docs://*"]})");
  REQUIRE(t.client.filter);
  const auto shows = [&t](std::string_view method, std::string_view params) {
    RingEntry entry;
    entry.line = fmt::format(R"({{"jsonrpc":"2.0","method":"{}","params":{}}})", method, params);
    entry.line += '\n';
    return (*t.client.filter)(entry);
  };
  const std::string_view updated = "notifications/resources/updated";
  CHECK(shows(updated, R"({"uri":"docs://a"})"));
  CHECK_FALSE(shows(updated, R"({"uri":"file:///a"})"));
  CHECK_FALSE(shows(updated, "{}"));
  CHECK(shows("notifications/tools/list_changed", "{}"));
  t.take(R"({"uid":1})");
  CHECK_FALSE(shows("notifications/tools/list_changed", "{}"));
  t.take("{}");
  CHECK(t.client.filter == nullptr);
}

TEST_CASE("what is submitted is judged as the request that it is") {
  Ruled t(R"({"tools":["a"]})");
  t.request(t.client, "1", "bridge/submit", R"({"method":"tools/call","params":{"name":"rm"}})");
  CHECK(contains(t.client.take_line(), R"("kind":"denied")"));
  t.request(t.client, "2", "bridge/submit", R"({"method":"tools/call","params":{"name":"a"}})");
  CHECK(contains(t.client.take_line(), R"("result")"));
}
