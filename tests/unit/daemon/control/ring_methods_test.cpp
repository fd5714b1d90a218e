// BEHAVIOUR, "Control methods: bridge/notifications", "Control methods: bridge/take".
#include "control/ring_methods.hpp"

#include "../router/policies.hpp"
#include "../router/router_fixture.hpp"

using namespace bridge;
using namespace std::chrono_literals;

namespace {

struct RingControl final : Control {
  RingControl(EventLoop& loop, NotificationFeed& feed, const Clients& clients)
      : methods(loop, feed, clients, instance, 5s) {}

  void answer(const Frame& request, Client& asker, Reply reply) override {
    if (request.method == "bridge/take") {
      reply(methods.take(request, asker));
    } else {
      methods.read(request, asker, std::move(reply));
    }
  }
  ControlFacts facts_of(std::string_view method) const override {
    return {.is_answered_in_order = method == "bridge/notifications"};
  }
  bool list_tools(Reply /*done*/) override { return false; }
  bool cancel(const Client& asker, std::string_view id) override {
    return methods.cancel(asker, id);
  }
  void client_drained(Client& client) override { methods.client_drained(client); }
  void client_left(const Client& client) override { methods.client_left(client); }

  const std::string instance = "abcd";
  RingMethods methods;
};

constexpr std::string_view changed = "notifications/tools/list_changed";
constexpr std::string_view updated = "notifications/resources/updated";

struct RingAsked : OpenRouter {
  RingAsked() { router.set_control(ring_control); }

  /// What the client gets at once.
  std::string read(FakeClient& client, std::string_view params, std::string_view id = "1") {
    request(client, id, "bridge/notifications", params);
    return client.take_line();
  }
  std::string take(FakeClient& client, std::string_view seqs, std::string_view instance = "abcd") {
    request(client, "1", "bridge/take",
            fmt::format(R"({{"instance":"{}","seqs":{}}})", instance, seqs));
    const std::string line = client.take_line();
    return std::string(find_member(line, "result").value_or(line));
  }
  void update(std::string_view uri) {
    upstream.notify(std::string(updated), fmt::format(R"({{"uri":"{}"}})", uri));
  }
  void change(int times = 1) {
    for (; times > 0; --times) upstream.notify(std::string(changed), "{}");
  }
  /// The numbers of a reply's notifications.
  static Lines numbers(std::string_view line) {
    Lines all;
    const auto result = find_member(line, "result").value_or("{}");
    each_element(find_member(result, "notifications").value_or("[]"), [&](std::string_view one) {
      all.emplace_back(find_member(one, "seq").value_or(""));
      return true;
    });
    return all;
  }
  std::size_t waiting() const { return ring_control.methods.waiting(); }

  RingControl ring_control{loop, feed, router.clients()};
};

struct Asked : RingAsked {
  FakeClient& client = connect();
};

}  // namespace

TEST_CASE("a take marks entries of this instance, each once, and tells the others from them") {
  struct Row {
    std::string_view seqs, instance, result;
    std::size_t untaken;
  };
  for (const Row& row : {
           Row{"[1,3]", "abcd", R"({"taken":[1,3],"unknown":[]})", 1},
           Row{"[]", "abcd", R"({"taken":[],"unknown":[]})", 3},
           Row{"[3,1,3,1]", "abcd", R"({"taken":[1,3],"unknown":[]})", 1},
           Row{"[0,2,4,18446744073709551615]", "abcd",
               R"({"taken":[2],"unknown":[0,4,18446744073709551615]})", 2},
           Row{"[1,2]", "other", R"({"taken":[],"unknown":[1,2]})", 3},
       }) {
    CAPTURE(row.seqs);
    Asked t;
    t.change(3);
    CHECK(t.take(t.client, row.seqs, row.instance) == row.result);
    CHECK(t.feed.ring().untaken() == row.untaken);
    // Again it changes nothing.
    CHECK(t.take(t.client, row.seqs, row.instance) == row.result);
    CHECK(t.feed.ring().untaken() == row.untaken);
  }
}

TEST_CASE("other params of a take are refused, and nothing is taken") {
  Asked t;
  t.change(2);
  std::string many = "[1";
  for (int n = 0; n < 1'000'000; ++n) many += ",1";
  for (const std::string& seqs :
       {std::string("[1,-2]"), std::string(R"(["1"])"), std::string("[1,2.0]"), std::string("{}"),
        std::string("1"), std::string("null"), std::string("[1,[2]]"),
        std::string("[18446744073709551616]"), many + "]"}) {
    CAPTURE(seqs.substr(0, 40));
    CHECK(contains(t.take(t.client, seqs), R"("code":-32602)"));
  }
  for (const std::string_view params :
       {R"({"seqs":[1]})", R"({"instance":"abcd"})", R"({"instance":7,"seqs":[1]})", "{}"}) {
    CAPTURE(params);
    t.request(t.client, "1", "bridge/take", params);
    CHECK(contains(t.client.take_line(), R"("code":-32602)"));
  }
  CHECK(t.feed.ring().untaken() == 2);
}

TEST_CASE("what is taken is not given back by a reader that declines it") {
  Asked t;
  t.change(2);
  Ring& ring = t.feed.ring();
  RingReader reader = ring.join({});
  std::uint64_t lost = 0;
  while (const RingEntry* entry = ring.next_for(reader, ring.newest(), lost))
    Ring::advance(reader, *entry);
  reader.acknowledged = reader.next;
  ring.take(reader);
  CHECK(t.take(t.client, "[1]") == R"({"taken":[1],"unknown":[]})");
  ring.give_back(reader);
  CHECK(ring.untaken() == 1);
  CHECK(RingAsked::numbers(t.read(t.client, R"({"untaken":true})")) == Lines{"2"});
}

TEST_CASE("an entry that the policy hides can be neither awaited nor taken") {
  Asked t;
  t.in_turn([&] {
    t.router.take_policy(policy_of(R"({"uid":1000,"resources":["demo://*"]},{"uid":1001})"), false);
  });
  FakeClient& other = t.connect("unix", 1001);
  CHECK(t.read(t.client, R"({"waitMs":1000})").empty());
  CHECK(t.read(other, R"({"waitMs":1000})").empty());
  t.update("hidden://a");
  CHECK(t.client.take_lines().empty());
  CHECK(RingAsked::numbers(other.take_line()) == Lines{"1"});
  CHECK(t.take(t.client, "[1]", "abcd") == R"({"taken":[],"unknown":[1]})");
  t.update("demo://a");
  CHECK(RingAsked::numbers(t.client.take_line()) == Lines{"2"});
  CHECK(t.take(t.client, "[1,2]") == R"({"taken":[2],"unknown":[1]})");
  CHECK(t.take(other, "[1,2]") == R"({"taken":[1,2],"unknown":[]})");
}

TEST_CASE("what another policy shows is returned to requests that wait") {
  Asked t;
  t.in_turn(
      [&] { t.router.take_policy(policy_of(R"({"uid":1000,"resources":["demo://*"]})"), false); });
  t.update("hidden://a");
  CHECK(t.read(t.client, R"({"untaken":true,"waitMs":1000})").empty());
  t.in_turn([&] {
    t.router.take_policy(policy_of(R"({"uid":1000})"), false);
    t.ring_control.methods.policy_changed();
  });
  CHECK(RingAsked::numbers(t.client.take_line()) == Lines{"1"});
}

TEST_CASE("only notifications of these methods are returned and awaited") {
  struct Row {
    std::string_view methods;
    Lines there;  ///< of a changed list, and an updated resource
    std::size_t waiting;
  };
  for (const Row& row : {
           Row{R"(["notifications/tools/list_changed"])", {"1"}, 0},
           Row{R"(["*/updated","x"])", {"2"}, 0},
           Row{R"(["*","!*/updated"])", {"1"}, 0},
           Row{R"(["*"])", {"1", "2"}, 0},
           Row{R"(["notifications/message"])", {}, 1},
           Row{"[]", {}, 1},
       }) {
    CAPTURE(row.methods);
    Asked t;
    t.change();
    t.update("demo://a");
    const std::string params = fmt::format(R"({{"methods":{},"waitMs":1000}})", row.methods);
    CHECK(RingAsked::numbers(t.read(t.client, params)) == row.there);
    t.change();
    CHECK(t.waiting() == row.waiting);
  }
  Asked t;
  std::string many = R"(["a")";
  for (std::size_t n = 0; n < RingMethods::max_globs; ++n) many += R"(,"a")";
  const std::string longer(RingMethods::longest_glob + 1, 'a');
  for (const std::string& methods : {std::string("1"), std::string("[1]"), std::string(R"("a")"),
                                     many + "]", fmt::format(R"(["{}"])", longer)}) {
    CHECK(contains(t.read(t.client, fmt::format(R"({{"methods":{}}})", methods)), "-32602"));
  }
}

TEST_CASE("a message that is nested too deep for the answer is text in it") {
  for (const std::size_t depth : {1020u, 1021u}) {
    CAPTURE(depth);
    Asked t;
    // The message and its params are two of the levels.
    const std::string deep = std::string(depth - 2, '[') + std::string(depth - 2, ']');
    t.upstream.notify(std::string(updated), fmt::format(R"({{"uri":"a","x":{}}})", deep));
    const std::string answer = t.read(t.client, "{}");
    CHECK(is_json(answer));
    CHECK(contains(answer, R"("text":"{\"jsonrpc)") == (depth == 1021));
    CHECK(contains(answer, R"("message":{"jsonrpc)") == (depth == 1020));
  }
}

TEST_CASE("what is there is answered at once, and what is not is awaited") {
  struct Row {
    std::string_view params;
    bool waits;  ///< with 3 entries, of which the first two are taken
    Lines numbers;
  };
  for (const Row& row : {
           Row{"{}", false, {"1", "2", "3"}},
           Row{R"({"untaken":true})", false, {"3"}},
           Row{R"({"untaken":false,"limit":1})", false, {"1"}},
           Row{R"({"since":3})", false, {}},
           Row{R"({"since":2,"waitMs":1000})", false, {"3"}},
           Row{R"({"untaken":true,"waitMs":1000})", false, {"3"}},
           Row{R"({"since":3,"waitMs":1000})", true, {"4"}},
           Row{R"({"since":3,"untaken":true,"waitMs":1000})", true, {"4"}},
           Row{R"({"since":9,"waitMs":1000})", true, {"4"}},
           Row{R"({"since":3,"instance":"abcd","waitMs":1000})", true, {"4"}},
           Row{R"({"since":9,"instance":"other","waitMs":1000})", false, {"1", "2", "3"}},
       }) {
    CAPTURE(row.params);
    Asked t;
    t.change(3);
    CHECK(contains(t.take(t.client, "[1,2]"), "[1,2]"));
    std::string answer = t.read(t.client, row.params);
    CHECK(answer.empty() == row.waits);
    CHECK(t.waiting() == std::size_t{row.waits});
    if (row.waits) {
      t.change();
      answer = t.client.take_line();
    }
    CHECK(RingAsked::numbers(answer) == row.numbers);
    CHECK(contains(answer, R"("gap":true)") == contains(row.params, ":9"));
    CHECK(t.waiting() == 0);
  }
  Asked t;
  for (const std::string_view params :
       {R"({"waitMs":-1})", R"({"waitMs":"1"})", R"({"untaken":1})", R"({"limit":0})"})
    CHECK(contains(t.read(t.client, params), R"("code":-32602)"));
}

TEST_CASE("what leaves the ring while a request waits is a gap") {
  Asked t;
  t.change(1);
  t.request(t.client, "1", "bridge/notifications", R"({"since":1,"waitMs":1000})");
  t.client.take_lines();
  t.client.is_congested = true;
  t.change(1001);
  t.congest(t.client, false);
  const std::string answer = t.client.take_line();
  CHECK(contains(answer, R"("gap":true,"more":true)"));
  CHECK(RingAsked::numbers(answer).front() == "3");
}

TEST_CASE("a request that waits ends once: by news, time, its client, or the daemon") {
  struct Row {
    std::string_view name;
    void (*end)(Asked& t);
    bool is_answered;
  };
  for (const Row& row : {
           Row{"time", [](Asked& t) { t.advance(1s); }, true},
           Row{"news", [](Asked& t) { t.change(); }, true},
           Row{"a taken one",
               [](Asked& t) {
                 t.in_turn([&] {
                   t.feed.publish("{}", changed);
                   t.feed.ring().take(Sequence{1});
                 });
               },
               true},
           Row{"cancelled", [](Asked& t) { t.cancel(t.client, "1"); }, false},
           Row{"the end",
               [](Asked& t) { t.in_turn([&] { t.ring_control.methods.answer_waiting(); }); }, true},
           Row{"left", [](Asked& t) { t.leave(t.client); }, false},
       }) {
    CAPTURE(row.name);
    Asked t;
    CHECK(t.read(t.client, R"({"waitMs":1000})").empty());
    t.half_close(t.client);  // it still reads
    t.advance(999ms);
    CHECK(t.waiting() == 1);
    row.end(t);
    CHECK(t.waiting() == 0);
    CHECK(t.client.take_lines().size() == std::size_t{row.is_answered});
    t.change();
    t.advance(2h);
    CHECK(t.client.take_lines().empty());
    CHECK_FALSE(t.loop.next_due());
  }
}

TEST_CASE("a burst is one answer, and a waiting request sets no other timer than its own") {
  Asked t;
  CHECK(t.read(t.client, R"({"waitMs":3600001})").empty());
  CHECK(t.loop.next_due() == t.loop.now() + 1h);
  t.in_turn([&] {
    for (int n = 0; n < 3; ++n) t.feed.publish("{}", changed);
  });
  CHECK(RingAsked::numbers(t.client.take_line()) == Lines{"1", "2", "3"});
}

TEST_CASE("requests that wait are bounded for each user, and over HTTP in time") {
  Asked t;
  for (std::size_t n = 0; n < RingMethods::max_of_user; ++n) {
    FakeClient& one = n % 2 == 0 ? t.client : t.connect();
    CHECK(t.read(one, R"({"waitMs":1000})", std::to_string(n)).empty());
  }
  FakeClient& same = t.connect();
  CHECK(contains(t.read(same, R"({"waitMs":1000})"), R"("kind":"overloaded")"));
  CHECK(contains(t.read(same, "{}"), R"("notifications":[])"));
  FakeClient& other = t.connect("unix", 1001);
  CHECK(t.read(other, R"({"waitMs":1000})").empty());
  FakeClient& remote = t.connect("http");
  CHECK(t.read(remote, R"({"waitMs":3600000})").empty());
  t.advance(1s);
  CHECK(t.waiting() == 1);
  t.advance(4s);
  CHECK(t.waiting() == 0);
}

TEST_CASE("a client without room is answered when it has drained") {
  Asked t;
  CHECK(t.read(t.client, R"({"waitMs":1000})").empty());
  t.congest(t.client);
  t.change();
  t.advance(2s);
  CHECK(t.client.take_lines().empty());
  CHECK_FALSE(t.loop.next_due());
  t.congest(t.client, false);
  CHECK(RingAsked::numbers(t.client.take_line()) == Lines{"1"});
}
