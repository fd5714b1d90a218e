// BEHAVIOUR, "Control methods: bridge/tool".
#include "control/tool_lookup.hpp"

#include "../router/policies.hpp"
#include "../router/router_fixture.hpp"

using namespace bridge;
using namespace std::chrono_literals;

namespace {

constexpr std::string_view two_tools = R"({"tools":[{"name":"a","n":0.10},{"name":"b"}]})";

struct Lookup : RouterFixture {
  explicit Lookup(const RouterOptions& options = {}) : RouterFixture(options) {}

  void ask(std::string_view name, std::string_view id = "1") {
    ask_with(fmt::format(R"({{"name":"{}"}})", name), id);
  }
  void ask_with(std::string_view params, std::string_view id = "1") {
    const auto frame = parse_frame(fmt::format(
        R"({{"jsonrpc":"2.0","id":{},"method":"bridge/tool","params":{}}})", id, params));
    in_turn([&] {
      lookup.answer(std::get<Frame>(frame), asker,
                    [this](std::string reply) { replies.push_back(std::move(reply)); });
    });
  }
  void list(std::string_view result) {
    upstream.answer(upstream.id_of("tools/list"), std::string(result));
  }
  void learn() {
    ask("a");
    list(two_tools);
    replies.clear();
  }
  std::string take_reply() {
    REQUIRE(replies.size() == 1);
    return std::exchange(replies, {}).front();
  }
  std::size_t listings() const { return upstream.count("tools/list"); }

  FakeClient channel{client_ids.next()};
  /// Not one of the router's clients, which would be counted.
  const Client asker{channel, session.tap(), budget};
  Lines replies;
  ToolLookup lookup{loop, router, session};
};

/// Its session is open.
struct Opened : Lookup {
  explicit Opened(const RouterOptions& options = {}) : Lookup(options) { open(); }
};

}  // namespace

TEST_CASE("a tool is listed for when nothing is known, once for all who ask, and then known") {
  Opened t;
  t.ask("a");
  t.ask("b", "\"two\"");
  CHECK(t.listings() == 1);
  CHECK(t.replies.empty());
  t.list(two_tools);
  CHECK(t.replies == Lines{R"({"jsonrpc":"2.0","id":1,"result":{"tool":{"name":"a","n":0.10}}})",
                           R"({"jsonrpc":"2.0","id":"two","result":{"tool":{"name":"b"}}})"});
  CHECK(t.router.clients().begin() == t.router.clients().end());
  CHECK(t.router.statistics().requests == 0);  // none is a client's
  t.replies.clear();
  t.ask("b");
  CHECK(contains(t.take_reply(), R"({"tool":{"name":"b"}})"));
  CHECK(t.listings() == 1);
}

TEST_CASE("it is answered when the page with its tool has come; nothing is listed further") {
  Opened t;
  t.ask("a");
  t.list(R"({"tools":[{"name":"a"}],"nextCursor":"2"})");
  CHECK(contains(t.take_reply(), R"({"name":"a"})"));
  CHECK(t.listings() == 1);
  t.ask("a");
  t.ask("b");
  t.list(R"({"tools":[{"name":"a"}],"nextCursor":"2"})");
  CHECK(contains(t.take_reply(), R"({"name":"a"})"));
  CHECK(t.listings() == 3);
  t.list(R"({"tools":[{"name":"b"}],"nextCursor":"3"})");
  CHECK(contains(t.take_reply(), R"({"name":"b"})"));
  CHECK(t.listings() == 3);
}

TEST_CASE("a list whose cursor repeats ends, with one warning") {
  Opened t;
  for (int time = 0; time < 2; ++time) {
    t.ask("none");
    t.list(R"({"tools":[{"name":"a"}],"nextCursor":"2"})");
    t.list(R"({"tools":[{"name":"a"}],"nextCursor":"2"})");
    CHECK(contains(t.take_reply(), R"("kind":"tool")"));
    t.ask_with("{}");
    CHECK(contains(t.take_reply(), R"({"names":["a"]})"));
    t.upstream.notify("notifications/tools/list_changed");
  }
  CHECK(t.listings() == 4);
}

TEST_CASE("the session is opened for it") {
  Lookup t;
  t.ask("a");
  t.let_it_open();
  t.list(two_tools);
  CHECK(contains(t.take_reply(), R"("tool")"));
}

TEST_CASE("a list that a client has asked for is known, in one page or several") {
  Opened t;
  FakeClient& client = t.connect();
  t.request(client, "1", "tools/list");
  t.list(R"({"tools":[{"name":"a"}],"nextCursor":"x"})");
  t.request(client, "2", "tools/list", R"({"cursor":"x"})");
  t.list(R"({"tools":[{"name":"c"}]})");
  t.ask("c");
  CHECK(contains(t.take_reply(), R"({"name":"c"})"));
  CHECK(t.listings() == 2);
}

TEST_CASE(
    "what the list has not is no tool; it is listed again if the server tells of no changes") {
  Opened t;
  t.learn();
  t.ask("no\\u001bsuch");
  const std::string reply = t.take_reply();
  CHECK(contains(reply, "-32602"));
  CHECK(contains(reply, R"("kind":"tool")"));
  CHECK(contains(reply, R"(no\\u001bsuch)"));
  CHECK(t.listings() == 1);  // the server has listChanged

  Lookup silent;
  silent.open_modern();
  silent.learn();
  silent.ask("new");
  CHECK(silent.listings() == 2);
  silent.list(R"({"tools":[{"name":"new"}]})");
  CHECK(contains(silent.take_reply(), R"({"name":"new"})"));
}

TEST_CASE("a change of the list and a new session make it unknown") {
  Opened t;
  t.learn();
  t.upstream.notify("notifications/tools/list_changed");
  t.learn();
  CHECK(t.listings() == 2);
  t.in_turn([&] { t.router.from_upstream().session_replaced(Era::legacy, {}, {}); });
  t.ask("a");
  CHECK(t.listings() == 3);
}

TEST_CASE("pages are followed to the end, 100 at most, and 30 s after the first") {
  Opened t;
  t.ask("last");
  SUBCASE("to the end") {
    t.list(R"({"tools":[],"nextCursor":"2"})");
    t.list(R"({"tools":[{"name":"last"}]})");
    CHECK(contains(t.take_reply(), R"({"tool":{"name":"last"}})"));
  }
  SUBCASE("100") {
    for (int page = 1; page <= 100; ++page)
      t.list(fmt::format(R"({{"tools":[],"nextCursor":"{}"}})", page));
    CHECK(contains(t.take_reply(), R"("kind":"too_large")"));
    CHECK(t.listings() == 100);
  }
  SUBCASE("30 s") {
    t.list(R"({"tools":[],"nextCursor":"2"})");
    t.advance(29s);
    CHECK(t.replies.empty());
    t.advance(1s);
    CHECK(contains(t.take_reply(), R"("kind":"timeout")"));
  }
  CHECK(t.router.clients().begin() == t.router.clients().end());
}

TEST_CASE("why there is no list is said as the server said it, and it is asked for again") {
  Opened t;
  t.ask("a");
  t.upstream.answer_error(t.upstream.id_of("tools/list"),
                          R"({"code":-32601,"message":"no tools"})");
  CHECK(contains(t.take_reply(), R"("error":{"code":-32601,"message":"no tools"})"));
  t.ask("a");
  CHECK(t.listings() == 2);
}

TEST_CASE("without a name all names are answered, from the kept list or a new one") {
  Opened t;
  t.ask_with("{}");
  t.list(two_tools);
  CHECK(contains(t.take_reply(), R"("result":{"names":["a","b"]})"));
  t.ask_with("{}");
  CHECK(contains(t.take_reply(), R"("names")"));
  CHECK(t.listings() == 1);
  t.ask_with(R"({"name":1})");
  CHECK(contains(t.take_reply(), "-32602"));
}

TEST_CASE("root sees what another user would, and that user has been denied nothing") {
  struct Row {
    const char* of;
    uid_t asker;
    const char* params;
    const char* told;
  };
  const auto policy = policy_of(R"({"uid":0},{"uid":7,"tools":["a"]},{"gid":8,"tools":["b"]})");
  for (const Row& row : {
           Row{"all tools", 0, R"({"as":{"uid":7,"gid":7}})", R"("tools":[{"name":"a","n":0.10}])"},
           Row{"by a group", 0, R"({"as":{"uid":9,"gid":9,"groups":[8]}})",
               R"("tools":[{"name":"b"}])"},
           Row{"one tool", 0, R"({"as":{"uid":7,"gid":7},"name":"a"})", R"("tool":{"name":"a")"},
           Row{"a hidden tool", 0, R"({"as":{"uid":7,"gid":7},"name":"b"})", R"("kind":"tool")"},
           Row{"no rule", 0, R"({"as":{"uid":9,"gid":9}})", R"("kind":"policy")"},
           Row{"no object", 0, R"({"as":7})", "as is an object"},
           Row{"not root", 7, R"({"as":{"uid":7,"gid":7}})", "only root"},
       }) {
    INFO(row.of);
    Opened t;
    t.in_turn([&] { t.router.take_policy(policy, false); });
    FakeClient& channel = t.connect("unix", row.asker);
    const auto frame = parse_frame(fmt::format(
        R"({{"jsonrpc":"2.0","id":1,"method":"bridge/tool","params":{}}})", row.params));
    t.in_turn([&] {
      t.lookup.answer(std::get<Frame>(frame),
                      *t.router.clients().find_client(channel.identity().id),
                      [&t](std::string reply) { t.replies.push_back(std::move(reply)); });
    });
    if (t.replies.empty()) t.list(two_tools);
    CHECK(contains(t.take_reply(), row.told));
    CHECK(t.router.permissions().counts().no_rule == 0);
    CHECK(t.router.permissions().counts().tool == 0);
  }
}

TEST_CASE("so many may wait") {
  Lookup t;
  for (std::size_t count = 0; count <= ToolLookup::most_waiting; ++count) t.ask("a");
  CHECK(contains(t.take_reply(), R"("kind":"overloaded")"));
}

TEST_CASE("a client that has its turn alone gets its answer") {
  RouterOptions options;
  options.sequential = true;
  Opened t(options);
  FakeClient& client = t.connect();
  t.call_and_answer(client);
  t.ask("a");
  t.list(two_tools);
  CHECK(contains(t.take_reply(), R"("tool")"));
}

TEST_CASE("who waits is answered before the clients are left") {
  Opened t;
  t.ask("a");
  t.in_turn([&] {
    t.router.begin_shutdown();
    t.router.end_shutdown();
    t.lookup.settle();
    CHECK(contains(t.take_reply(), R"("kind":"shutdown")"));
  });
}
