// The audit's lines about clients' requests, and when they are written.
#include "router/audit_trail.hpp"

#include "json/json_text.hpp"
#include "router_fixture.hpp"

using namespace bridge;
using namespace std::chrono_literals;

namespace {

/// A file with room for so many bytes.
struct Kept final : AuditOutput {
  std::size_t write(std::string_view lines) override {
    ++writes;
    const std::size_t taken = std::min(lines.size(), room);
    text += lines.substr(0, taken);
    room -= taken;
    reason = taken < lines.size() ? "no space" : "";
    return taken;
  }
  const std::string& fault() const override { return reason; }
  Reopened reopen() override {
    text.clear();
    return Reopened::another;
  }

  std::string text;
  std::string reason;
  std::size_t room = 10'000'000;
  int writes = 0;
};

AuditOptions required() {
  AuditOptions options;
  options.target = "/var/log/a.log";
  options.required = true;
  return options;
}

AuditRecord record(std::uint64_t number, std::string job = {}) {
  AuditRecord made;
  made.number = number;
  made.method = "tools/call";
  made.tool = "a";
  made.job = std::move(job);
  return made;
}

struct Audited : RouterFixture {
  explicit Audited(AuditOptions with = {}) : options(std::move(with)) { router.set_audit(trail); }

  /// The lines so far, which are removed.
  Lines lines() {
    audit.write();
    Lines all;
    std::string_view rest = file->text;
    while (!rest.empty()) {
      const auto end = rest.find('\n');
      all.emplace_back(rest.substr(0, end));
      rest.remove_prefix(end + 1);
    }
    file->text.clear();
    return all;
  }
  /// "METHOD OUTCOME" of each line; for a first line only the method.
  Lines told() {
    Lines all;
    for (const std::string& line : lines()) {
      all.push_back(*find_string(line, "method"));
      if (const auto outcome = find_string(line, "outcome")) all.back() += ' ' + *outcome;
    }
    return all;
  }
  /// There is room for so many bytes, and time for another try.
  void make_room() {
    file->room = 10'000;
    advance(10s);
  }
  std::vector<std::uint64_t> changes(std::vector<AuditRecord>& begun) {
    return trail.take_changes([&begun](const AuditRecord& one) { begun.push_back(one); });
  }

  AuditOptions options;
  Kept* file = new Kept;
  AuditLog audit{loop, std::unique_ptr<AuditOutput>(file), log};
  AuditTrail trail{loop, audit, options, [] { return std::vector<std::string>{}; }};
};
/// With its session open, and a client.
struct OneAudited : Audited {
  explicit OneAudited(AuditOptions with = {}) : Audited(std::move(with)) { open(); }
  FakeClient& client = connect();
};

}  // namespace

TEST_CASE("each request of a client has one line, when it has ended") {
  OneAudited t;
  t.call(t.client, "1", "a");
  CHECK(t.lines().empty());
  t.answer_call("a");
  t.call(t.client, "2", "b");
  t.cancel(t.client, "2");
  t.call(t.client, "3", "c");
  t.leave(t.client);
  CHECK(t.told() == Lines{"tools/call ok", "tools/call cancelled"});
  t.answer_call("c");
  CHECK(t.told() == Lines{"tools/call ok"});
}

TEST_CASE("a line has the grant that its request came with") {
  OneAudited t;
  t.call(t.client, "1", "a");
  Permissions& permissions = t.router.permissions();
  const auto issued = permissions.grants().issue(std::get<Grant>(read_wanted_grant("{}")), {},
                                                 nullptr, permissions.now());
  const GrantHold hold = permissions.grants().hold_of(*std::get<Grants::Issued>(issued).alive);
  t.in_turn([&] {
    t.router.from_clients().use_grant(*t.router.clients().find_client(t.client.identity().id),
                                      hold);
  });
  t.call(t.client, "2", "b");
  t.answer_call("a");
  t.answer_call("b");
  const Lines lines = t.lines();
  REQUIRE(lines.size() == 2);
  CHECK_FALSE(contains(lines[0], R"("grant":)"));
  CHECK(contains(lines[1], R"("grant":{"id":")" + hold.id()));
}

TEST_CASE("pings, the status and what is no request have none") {
  OneAudited t;
  t.request(t.client, "1", "ping");
  t.upstream.answer(t.upstream.id_of("ping"), "{}");
  t.request(t.client, "2", "bridge/status");
  t.notify(t.client, roots_changed);
  t.send(t.client, "no JSON");
  t.send(t.client, R"({"jsonrpc":"2.0","id":3})");
  CHECK(t.lines().empty());
}

TEST_CASE("required, the first lines of a turn are one write, before anything is sent") {
  OneAudited t(required());
  const int writes = t.file->writes;
  t.in_turn([&] {
    for (const char* name : {"a", "b", "c"}) {
      t.router.from_clients().client_line(
          t.client.identity().id,
          fmt::format(R"({{"jsonrpc":"2.0","id":"{}","method":"tools/call",)"
                      R"("params":{{"name":"{}"}}}})",
                      name, name));
    }
    CHECK(t.calls().empty());
  });
  CHECK(t.calls() == Lines{"a", "b", "c"});
  CHECK(t.file->writes == writes + 1);
  const Lines begun = t.lines();
  REQUIRE(begun.size() == 3);
  for (const std::string& line : begun) CHECK_FALSE(find_string(line, "outcome"));
  t.answer_call("b");
  const Lines ended = t.lines();
  REQUIRE(ended.size() == 1);
  CHECK(find_string(ended[0], "id") == find_string(begun[1], "id"));
  CHECK(find_string(ended[0], "outcome") == "ok");
}

TEST_CASE("required, what cannot be recorded is refused and not sent") {
  for (const std::string_view method : {"tools/call", "initialize", "subscriptions/listen"}) {
    CAPTURE(method);
    Audited t(required());
    if (method == "tools/call") t.open();
    if (method == "subscriptions/listen") t.open_modern();
    FakeClient& client = t.connect();
    const auto request = [&](std::string_view id) {
      if (method == "tools/call") t.call(client, id);
      if (method == "initialize") t.initialize(client, id);
      if (method == "subscriptions/listen")
        t.modern(client, id, method, R"("notifications":{"toolsListChanged":true},)");
    };
    t.file->room = 0;
    request("1");
    CHECK(contains(client.take_line(), R"("kind":"audit","delivered":"no")"));
    CHECK(t.upstream.count(method) == 0);
    t.make_room();
    t.lines();
    request("2");
    CHECK(t.told() == Lines{std::string(method)});
    if (method != "subscriptions/listen") CHECK(t.upstream.count(method) == 1);
    if (method != "initialize") continue;
    t.let_it_open();
    CHECK(t.told() == Lines{"initialize ok"});
  }
}

TEST_CASE("another file gets the first lines of what has not ended") {
  OneAudited t(required());
  t.call(t.client, "1", "a");
  const Lines begun = t.lines();
  CHECK(t.audit.reopen());
  t.trail.begin_again();
  CHECK(t.lines() == begun);
  t.answer_call("a");
  CHECK(t.told() == Lines{"tools/call ok"});
  t.trail.begin_again();
  CHECK(t.lines().empty());
}

TEST_CASE("what has not ended stands in every 32 MiB of lines") {
  Audited t(required());
  t.file->room = 1u << 30;
  t.open();
  FakeClient& client = t.connect();
  t.call(client, "1", "stays");
  const std::string begun = t.lines().at(0);
  std::size_t bytes = 0;
  bool is_said_again = false;
  for (int i = 0; !is_said_again && bytes < 2 * AuditTrail::repeated_after; ++i) {
    t.request(client, "2", std::string(1000, 'm'),
              fmt::format(R"({{"uri":"{}"}})", std::string(1000, 'u')));
    t.upstream.answer(t.upstream.sent.back().id, "{}");
    client.take_lines();
    t.upstream.sent.clear();
    for (const std::string& line : t.lines()) {
      bytes += line.size();
      is_said_again = is_said_again || line == begun;
    }
  }
  CHECK(is_said_again);
  CHECK(bytes > AuditTrail::repeated_after / 2);
}

TEST_CASE("the state is told what has come, and once its line is written what has ended since") {
  OneAudited t;
  t.call(t.client, "1", "a");
  t.call(t.client, "2", "b");
  t.answer_call("b");
  std::vector<AuditRecord> begun;
  CHECK(t.changes(begun).empty());
  REQUIRE(begun.size() == 1);
  CHECK(begun[0].tool == "a");
  t.file->room = 0;
  t.answer_call("a");
  std::vector<AuditRecord> none;
  CHECK(t.changes(none).empty());
  t.make_room();
  CHECK(t.changes(none) == std::vector<std::uint64_t>{begun[0].number});
  CHECK(none.empty());
  CHECK(t.changes(none).empty());
}

TEST_CASE("the next daemon writes the ends of what a daemon has left in the state") {
  Audited t;
  t.trail.take_over({record(7), record(8, "lost"), record(9, "j")});
  const Lines lines = t.lines();
  REQUIRE(lines.size() == 1);
  CHECK(find_string(lines[0], "outcome") == "unknown");
  CHECK(find_string(lines[0], "tool") == "a");
  t.trail.give_up_jobs([](std::string_view job) { return job == "j"; });
  CHECK(find_string(t.lines().at(0), "job") == "lost");
  std::vector<AuditRecord> begun;
  CHECK(t.changes(begun) == std::vector<std::uint64_t>{7, 8});
  t.trail.job_ended("j", R"({"jsonrpc":"2.0","id":null,"result":{"isError":true}})");
  CHECK(t.told() == Lines{"tools/call tool_error"});
  CHECK(t.changes(begun) == std::vector<std::uint64_t>{9});
  // Numbers are not used again.
  t.open();
  t.call(t.connect(), "1", "b");
  t.changes(begun);
  CHECK(begun.back().number > 9);
}

TEST_CASE("of a file's first lines those are ended that do not go on") {
  Audited t(required());
  AuditRecord of_job = record(1, "j");
  of_job.id = "x-2";
  of_job.is_begun = true;
  t.trail.found_begun(
      {R"({"id":"x-1","method":"tools/call"})", R"({"id":"x-2","method":"tools/call"})"});
  t.trail.take_over({of_job});
  t.trail.end_begun();
  CHECK(t.lines() == Lines{R"({"id":"x-1","method":"tools/call","outcome":"unknown"})"});
}

TEST_CASE("a job that ends while the next daemon takes it over has one last line") {
  for (const bool is_known : {true, false}) {
    Audited t(required());
    AuditRecord of_job = record(1, "j");
    of_job.id = "x-2";
    of_job.is_begun = true;
    t.trail.found_begun({R"({"id":"x-2","method":"tools/call"})"});
    t.trail.take_over({of_job});
    if (is_known)
      t.trail.job_ended(
          "j", error_reply("1", failure_of(ErrorKind::closed, Delivered::unknown, "lost")));
    t.trail.give_up_jobs([](std::string_view) { return false; });
    t.trail.end_begun();
    const Lines lines = t.lines();
    REQUIRE(lines.size() == 1);
    CHECK(contains(lines.front(), R"("outcome":"unknown")"));
  }
}

TEST_CASE("at an orderly end jobs that another daemon goes on with have no line as yet") {
  for (const bool proceed : {true, false}) {
    Audited t;
    t.trail.take_over({record(1, "j")});
    t.open();
    t.call(t.connect(), "1", "a");
    t.trail.end_all(proceed);
    CHECK(t.lines().size() == (proceed ? 1 : 2));
    CHECK(t.trail.size() == (proceed ? 1 : 0));
  }
}

TEST_CASE("an upgrade takes along what has not ended, jobs and orphans too") {
  Audited before;
  before.open();
  FakeClient& client = before.connect();
  before.call(client, "1", "a");
  before.call(client, "2", "b");
  FakeClient& gone = before.connect();
  before.call(gone, "3", "c");
  before.leave(gone);
  before.trail.take_over({record(50, "j")});
  Audited after;
  after.trail.restore(before.trail.save_open());
  CHECK(after.trail.size() == 4);
  after.trail.answered(client.identity().id, "1", R"({"result":{}})");
  after.trail.not_answered(client.identity().id, "2");
  after.trail.left_behind_ended(before.id_of_call("c"), "");
  after.trail.job_ended("j", "");
  CHECK(after.told() == Lines{"tools/call ok", "tools/call cancelled", "tools/call unknown",
                              "tools/call cancelled"});
  CHECK(after.trail.size() == 0);
}
