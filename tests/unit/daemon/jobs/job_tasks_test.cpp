// BEHAVIOUR, "Jobs: tasks of the server".
#include <doctest/doctest.h>

#include "job_fixture.hpp"
#include "jobs/server_task.hpp"
#include "router/router_upgrade.hpp"

namespace bridge {
namespace {

using namespace std::chrono_literals;

Frame response(std::string_view result) {
  return std::get<Frame>(
      parse_frame(fmt::format(R"({{"jsonrpc":"2.0","id":1,"result":{}}})", result)));
}

TEST_CASE("whether a response says that its request is a task now") {
  using Form = ServerTask::Form;
  CHECK(form_of_task(response(R"({"resultType":"task","taskId":"a"})")) == Form::modern);
  CHECK(form_of_task(response(R"({"task":{"taskId":"a"}})")) == Form::legacy);
  CHECK_FALSE(form_of_task(response(R"({"task":{"taskId":"a"},"content":[]})")));
  CHECK_FALSE(form_of_task(response(R"({"resultType":"complete","task":{}})")));
  CHECK_FALSE(form_of_task(response("{}")));
  CHECK_FALSE(form_of_task(response("[]")));
  CHECK_FALSE(form_of_task(std::get<Frame>(
      parse_frame(R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}})"))));
}

TEST_CASE("what is said of a task is read within bounds") {
  const auto pause = [](std::string_view interval) {
    return read_task(fmt::format(R"({{"taskId":"a","status":"working"{}}})", interval))->poll_after;
  };
  CHECK(pause("") == 1s);
  CHECK(pause(R"(,"pollIntervalMs":2000)") == 2s);
  CHECK(pause(R"(,"pollInterval":2000)") == 2s);
  CHECK(pause(R"(,"pollIntervalMs":0)") == shortest_poll);
  CHECK(pause(R"(,"pollIntervalMs":99999999999)") == longest_poll);
  CHECK(pause(R"(,"pollIntervalMs":-1)") == 1s);
  CHECK_FALSE(read_task("{}"));
  CHECK_FALSE(read_task(R"({"taskId":1,"status":"working"})"));
  CHECK_FALSE(read_task(R"({"taskId":"a","status":"done"})"));
  CHECK_FALSE(read_task(R"({"taskId":")" + std::string(2000, 'x') + R"(","status":"working"})"));
}

/// A server that has made a task of the only job.
struct ModernTask : JobFixture {
  ModernTask() : JobFixture({}, {}, false) {
    open_modern();
    job = submit(client, "a");
    is(R"("status":"working")", "a");
  }
  /// The server's response to the last request.
  void is(std::string_view members, std::string_view call = {}) {
    const UpstreamId id = call.empty() ? upstream.sent.back().id : id_of_call(call);
    upstream.answer(id, fmt::format(R"({{"resultType":"{}","taskId":"x","pollIntervalMs":500,{}}})",
                                    call.empty() ? "complete" : "task", members));
  }
  std::string last() const { return find_string(upstream.sent.back().body, "method").value_or(""); }

  FakeClient& client = connect();
  std::string job;
};

TEST_CASE("a task is asked about after its interval, and takes no place in between") {
  ModernTask t;
  CHECK(t.upstream.last("tools/call").body.find("io.modelcontextprotocol/tasks") !=
        std::string::npos);
  CHECK(t.router.in_flight() == 0);
  CHECK(t.upstream.count("tasks/get") == 0);
  t.advance(499ms);
  CHECK(t.upstream.count("tasks/get") == 0);
  t.advance(1ms);
  CHECK(t.upstream.count("tasks/get") == 1);
  CHECK(contains(t.upstream.last("tasks/get").body, R"("taskId":"x")"));
  t.advance(10s);
  CHECK(t.upstream.count("tasks/get") == 1);
  t.is(R"("status":"working")");
  t.advance(500ms);
  CHECK(t.upstream.count("tasks/get") == 2);
  t.is(R"("status":"completed","result":{"x":1e400})");
  CHECK(t.state_of(t.job) == "completed");
  CHECK(t.runner.store().find_job(t.job)->response ==
        R"({"jsonrpc":"2.0","id":null,"result":{"x":1e400}})");
  t.advance(60s);
  CHECK(t.upstream.count("tasks/get") == 2);
}

TEST_CASE("the error of a task is its job's, byte for byte") {
  ModernTask t;
  t.advance(500ms);
  t.is(R"("status":"failed","error":{"code":-7,"message":"no","data":0.10})");
  CHECK(t.runner.store().find_job(t.job)->response ==
        R"({"jsonrpc":"2.0","id":null,"error":{"code":-7,"message":"no","data":0.10}})");
}

TEST_CASE("a task's questions are asked one after the other, each once, and told together") {
  ModernTask t;
  t.advance(500ms);
  const std::string_view asking =
      R"("status":"input_required","inputRequests":{"one":{"method":"roots/list"},"two":{"method":"elicitation/create","params":{}}})";
  t.is(asking);
  CHECK(t.state_of(t.job) == "input_required");
  const auto answer = [&](std::string_view with) {
    t.bridge(t.client, "answer", fmt::format(R"({{"job":"{}",{}}})", t.job, with));
  };
  answer(R"("result":{"roots":[]})");
  CHECK(t.state_of(t.job) == "input_required");
  CHECK(t.upstream.count("tasks/update") == 0);
  answer(R"("error":{"code":1,"message":"m"})");
  CHECK(t.state_of(t.job) == "working");
  t.advance(0ms);
  REQUIRE(t.upstream.count("tasks/update") == 1);
  CHECK(contains(t.upstream.last("tasks/update").body,
                 R"("inputResponses":{"one":{"roots":[]},"two":{"action":"cancel"}})"));
  t.upstream.answer(t.upstream.id_of("tasks/update"), R"({"resultType":"complete"})");
  t.advance(500ms);
  t.is(asking);  // it has not processed the answers yet
  CHECK(t.state_of(t.job) == "working");
  t.advance(500ms);
  t.is(R"("status":"completed","result":{})");
  CHECK(t.state_of(t.job) == "completed");
}

TEST_CASE("an unreachable server is asked again, less and less often") {
  ModernTask t;
  t.advance(500ms);
  for (int times = 1; times < 10; ++times) {
    t.upstream.break_off(t.upstream.id_of("tasks/get"),
                         failure_of(ErrorKind::timeout, Delivered::unknown, "no"));
    CHECK(t.state_of(t.job) == "working");
    t.advance(60s);
    CHECK(t.upstream.count("tasks/get") == static_cast<std::size_t>(times) + 1);
  }
  t.upstream.answer_error(t.upstream.id_of("tasks/get"), R"({"code":-32602,"message":"gone"})");
  CHECK(t.state_of(t.job) == "failed");
}

TEST_CASE("a job that is cancelled, or takes too long, cancels its task") {
  ModernTask t;
  t.bridge(t.client, "cancel", fmt::format(R"({{"job":"{}"}})", t.job));
  CHECK(t.upstream.count("tasks/cancel") == 1);
  t.upstream.answer(t.upstream.id_of("tasks/cancel"), R"({"resultType":"complete"})");
  CHECK(t.other_callers() == 0);
  ModernTask late;
  late.advance(500ms);
  late.advance(61min);
  CHECK(late.state_of(late.job) == "failed");
  CHECK(late.upstream.count("tasks/cancel") == 1);
}

struct NothingWritten final : JobKeeper {
  bool write_changes() override { return false; }
  void note_question(Job&) override {}
};

TEST_CASE("what is kept of a job says that it can be a task, for a daemon that has no list") {
  JobFixture t({}, {}, false);
  NothingWritten keeper;
  t.runner.store().set_keeper(&keeper);
  t.in_turn([&] { t.session.require(); });
  t.upstream.answer(
      t.upstream.id_of("initialize"),
      R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}},"serverInfo":{"name":"s","version":"1"}})");
  t.upstream.server_stream(ServerStream::open);
  t.upstream.finish(t.upstream.id_of("notifications/initialized"));
  FakeClient& client = t.connect();
  t.send(client, R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})");
  t.upstream.answer(
      t.upstream.id_of("tools/list"),
      R"({"tools":[{"name":"a","inputSchema":{},"execution":{"taskSupport":"optional"}},{"name":"b","inputSchema":{}}]})");
  client.take_lines();
  // Both are queued.
  t.in_turn([&] { RouterUpgrade(t.router).pause(); });
  const std::string first = t.submit(client, "a");
  const std::string second = t.submit(client, "b");
  CHECK(contains(t.runner.store().find_job(first)->request, R"("task":{)"));
  CHECK(contains(t.runner.store().find_job(second)->request, R"("name":"b")"));
  CHECK_FALSE(contains(t.runner.store().find_job(second)->request, R"("task":{)"));
  t.runner.store().set_keeper(nullptr);
}

TEST_CASE("a legacy server's task has its questions and its response on tasks/result") {
  JobFixture t;
  FakeClient& client = t.connect();
  const std::string job = t.submit(client, "a");
  t.answer_call("a", R"({"task":{"taskId":"x","status":"working","pollInterval":500}})");
  CHECK(t.state_of(job) == "working");
  t.advance(500ms);
  t.upstream.answer(t.upstream.id_of("tasks/get"), R"({"taskId":"x","status":"input_required"})");
  REQUIRE(t.upstream.count("tasks/result") == 1);
  t.ask("1", t.upstream.id_of("tasks/result"));
  CHECK(t.state_of(job) == "input_required");
  t.bridge(client, "answer", fmt::format(R"({{"job":"{}","result":{{}}}})", job));
  CHECK(t.responses() == Lines{R"({"jsonrpc":"2.0","id":1,"result":{}})"});
  t.upstream.answer(t.upstream.id_of("tasks/result"), R"({"content":[]})");
  CHECK(t.state_of(job) == "completed");
}

}  // namespace
}  // namespace bridge
