// Jobs in the state's log: what the next daemon would read, also while the log is being rewritten
// (BEHAVIOUR, "State: when it is written").
#include "jobs/job_log.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "daemon_state.hpp"
#include "job_fixture.hpp"
#include "state/log_format.hpp"

using namespace bridge;
using namespace std::chrono_literals;

namespace {

struct Folder {
  Folder() {
    std::string name = "/tmp/mcp-jobs-test-XXXXXX";
    path = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

struct JobsInLog final : JobFixture, StateSource {
  explicit JobsInLog(const RouterOptions& options = {}) : JobFixture({}, options) { state.begin(); }

  void begin_snapshot() override {
    jobs.begin_snapshot();
    has_calls = false;
  }
  /// Writes one record per step, but all calls in the first.
  bool continue_snapshot(LogWriter& out, std::size_t) override {
    if (!std::exchange(has_calls, true)) jobs.say_calls(out);
    return jobs.continue_snapshot(out, 1);
  }
  std::size_t saved_bytes() const override { return 0; }

  /// As at the end of a turn.
  void write() {
    jobs.note_streams();
    jobs.note_changes();
    jobs.note_calls(router);
    state.write();
  }
  /// Makes the log long enough to be rewritten.
  void let_it_be_written_anew() {
    wanted = state.report().rewrites + 1;
    state.append_payload(record::opened, std::string(600'000, 'x'));
    write();
  }
  void write_to_the_end() {
    while (state.report().rewrites < wanted) write();
  }
  JobReplay read() const {
    std::ifstream in(place.path / "state" / "state", std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    ReplayedState replayed(state.now());
    const LogReading reading = read_log(bytes, [&](std::uint32_t type, std::string_view payload) {
      return replayed.take(type, payload);
    });
    CHECK(reading.verdict == LogVerdict::good);
    return std::move(replayed.jobs);
  }
  void check_same(JobReplay replay) const {
    std::size_t found = 0;
    runner.store().each_newest_first([&](const Job& job) {
      CAPTURE(job.id);
      const auto at = replay.jobs().find(job.number);
      REQUIRE(at != replay.jobs().end());
      const Job& read = at->second;
      CHECK(read.id == job.id);
      CHECK(read.state == job.state);
      CHECK(read.progress == job.progress);
      CHECK(read.response == job.response);
      CHECK(read.holds_key == job.holds_key);
      CHECK(read.peer.uid == job.peer.uid);
      CHECK(read.position.started == (job.state == JobState::working));
      ++found;
      return true;
    });
    CHECK(replay.jobs().size() == found);
  }
  void progress(std::string_view tool, std::string_view value) {
    const UpstreamId id = id_of_call(tool);
    upstream.say(
        fmt::format(
            R"({{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{},"progress":{}}}}})",
            value_of(id), value),
        id);
  }
  void forget(const std::string& job) {
    bridge(client, "forget", fmt::format(R"({{"job":"{}"}})", job));
  }

  std::uint64_t wanted = 0;
  bool has_calls = false;
  Folder place;
  StateFolder folder{(place.path / "state").string()};
  StateLog state{loop, folder, TargetHash{}, Sync::process, *this, log};
  JobLog jobs{loop, state, runner, session, upstream};
  FakeClient& client = connect();
};

}  // namespace

TEST_CASE("a job is in the log before its submit is answered, and its start before it is sent") {
  RouterOptions options;
  options.client_inflight = 1;
  JobsInLog t(options);
  t.submit(t.client, "first", R"(,"key":"k")");
  t.submit(t.client, "second");
  JobReplay replay = t.read();
  REQUIRE(replay.jobs().size() == 2);
  const Job& first = replay.jobs().begin()->second;
  CHECK(first.position.started);
  CHECK(first.position.id == t.id_of_call("first"));
  CHECK(first.key == "k");
  const Job& second = replay.jobs().rbegin()->second;
  CHECK_FALSE(second.position.started);
  CHECK(contains(second.request, R"("name":"second")"));
}

TEST_CASE("what is read is what there was") {
  JobsInLog t;
  const std::string ended = t.submit(t.client, "a", R"(,"key":"k")");
  const std::string forgotten = t.submit(t.client, "b", R"(,"key":"l")");
  t.submit(t.client, "c");
  t.answer_call("a", R"({"x":1e400})");
  t.answer_call("b");
  t.progress("c", "1");
  t.progress("c", "2");
  t.forget(forgotten);
  t.write();
  t.check_same(t.read());
  JobReplay replay = t.read();
  REQUIRE(replay.keys().size() == 1);
  CHECK(replay.keys().front().second.key == "l");
  CHECK(replay.keys().front().second.job == forgotten);
}

TEST_CASE("a log that is written anew while jobs change has all of them as they are then") {
  JobsInLog t;
  std::vector<std::string> jobs;
  for (int n = 0; n < 8; ++n)
    jobs.push_back(t.submit(t.client, fmt::format("t{}", n), fmt::format(R"(,"key":"k{}")", n)));
  for (int n = 0; n < 4; ++n) t.answer_call(fmt::format("t{}", n));
  t.forget(jobs[3]);
  t.let_it_be_written_anew();
  t.write();                    // of the first one
  t.write();                    // of the second one
  t.forget(jobs[0]);            // has been written
  t.forget(jobs[2]);            // has not been written
  t.progress("t5", "1");        // has not been written
  t.answer_call("t4");          // has not been written
  t.submit(t.client, "later");  // will never be written
  t.write();
  t.answer_call("later", R"({"late":1})");
  t.progress("t5", "2");
  t.write_to_the_end();
  CHECK(t.runner.store().size() == 6);
  t.check_same(t.read());
  JobReplay replay = t.read();
  std::vector<std::string> keys;
  for (const auto& [user, key] : replay.keys()) keys.push_back(key.key);
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  CHECK(keys == std::vector<std::string>{"k0", "k2", "k3"});
}

TEST_CASE("what the records of jobs and keys take is known") {
  JobsInLog t;
  const std::string job = t.submit(t.client, "a", R"(,"key":"k")");
  t.progress("a", "1");
  t.write();
  const std::size_t working = t.jobs.saved_bytes();
  t.answer_call("a", R"({"x":")" + std::string(5000, 'x') + R"("})");
  t.write();
  CHECK(t.jobs.saved_bytes() > working + 4000);
  t.let_it_be_written_anew();
  t.write_to_the_end();
  const std::size_t header = 64;
  CHECK(std::filesystem::file_size(t.place.path / "state" / "state") ==
        header + t.jobs.saved_bytes());
  t.forget(job);
  t.write();
  CHECK(t.jobs.saved_bytes() < 200);
  CHECK(t.jobs.saved_bytes() > 0);  // for its key
}

TEST_CASE(
    "with --orphans keep a client's request is in the log, without an id, until it has ended") {
  RouterOptions options;
  options.orphans = Orphans::keep;
  JobsInLog t(options);
  const auto logged = [&t] {
    t.write();
    return std::move(t.read().jobs());
  };
  t.call(t.client, "1", "a");
  t.send(t.client, R"({"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{}})");
  auto jobs = logged();
  REQUIRE(jobs.size() == 1);
  const Job call = jobs.begin()->second;
  CHECK(call.id.empty());
  CHECK(call.peer.uid == t.client.identity().uid);
  CHECK(call.position.id == t.id_of_call("a"));
  CHECK(t.runner.store().size() == 0);
  CHECK(t.jobs.saved_bytes() > 0);

  SUBCASE("it is answered") { t.answer_call("a"); }
  SUBCASE("its client has cancelled it") {
    t.send(t.client,
           R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  }
  SUBCASE("--orphans is another now") {
    options.orphans = Orphans::finish;
    t.router.reconfigure(options);
  }
  SUBCASE("its client has left: it is a job") {
    t.leave(t.client);
    jobs = logged();
    REQUIRE(jobs.size() == 1);
    CHECK_FALSE(jobs.begin()->second.id.empty());
    CHECK(jobs.begin()->second.position.id == call.position.id);
    return;
  }
  SUBCASE("the log is written anew") {
    t.let_it_be_written_anew();
    t.write_to_the_end();
    jobs = logged();
    REQUIRE(jobs.size() == 1);
    CHECK(jobs.begin()->second.id.empty());
    CHECK(jobs.begin()->second.number == call.number);
    return;
  }
  CHECK(logged().empty());
  CHECK(t.jobs.saved_bytes() == 0);
}
