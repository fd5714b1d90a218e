// BEHAVIOUR, "Jobs: questions" and "Jobs: asynchronous POSTs".
#include <doctest/doctest.h>

#include "job_fixture.hpp"

namespace bridge {
namespace {

using namespace std::chrono_literals;

RouterOptions places(std::size_t of_client, std::size_t in_all = 256) {
  RouterOptions options;
  options.client_inflight = of_client;
  options.max_inflight = in_all;
  return options;
}

TEST_CASE("a job is carried out and collected, whoever was there when it ended") {
  JobFixture t;
  FakeClient& client = t.connect();
  const std::string job = t.submit(client, "build");
  t.leave(client);
  CHECK(t.upstream.last("tools/call").endless);
  t.answer_call("build", R"({"x":1e400})");
  FakeClient& later = t.connect();
  const std::string answer = t.bridge(later, "collect", fmt::format(R"({{"job":"{}"}})", job));
  CHECK(contains(answer, R"("state":"completed")"));
  CHECK(contains(answer, R"("response":{"jsonrpc":"2.0","id":null,"result":{"x":1e400}})"));
}

/// Sends a request whose client does not wait for it; returns the name of its job.
std::string call_for_later(JobFixture& t, const FakeClient& client, std::string_view id,
                           std::string_view method = "tools/call") {
  std::string job;
  auto frame = parse_frame(fmt::format(
      R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{{"name":"a","_meta":{{"progressToken":"t"}}}}}})",
      id, method));
  t.in_turn([&] {
    job = t.router.from_clients().client_request_for_later(client.identity().id,
                                                           std::move(std::get<Frame>(frame)));
  });
  return job;
}

TEST_CASE("a request for later is a job, and its client is told its end under its own id") {
  JobFixture t;
  FakeClient& client = t.connect();
  const std::string job = call_for_later(t, client, "\"mine\"");
  REQUIRE(t.state_of(job) == "working");
  const UpstreamId id = t.id_of_call("a");
  t.upstream.say(
      fmt::format(
          R"({{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{},"progress":1}}}})",
          value_of(id)),
      id);
  t.upstream.say(R"({"jsonrpc":"2.0","method":"notifications/message","params":{"data":1}})", id);
  t.answer_call("a", R"({"x":1e400})");
  const Lines lines = client.take_lines();
  REQUIRE(lines.size() == 3);
  CHECK(contains(lines[0], R"("params":{"progressToken":"t","progress":1})"));
  CHECK(contains(lines[1], R"("method":"notifications/message")"));
  CHECK(lines[2] == R"({"jsonrpc":"2.0","id":"mine","result":{"x":1e400}})");
  CHECK(t.state_of(job) == "completed");
}

TEST_CASE("one for later outlives its client, which cancels it while it is there") {
  JobFixture t;
  FakeClient& client = t.connect();
  const std::string left = call_for_later(t, client, "1");
  const std::string cancelled = call_for_later(t, client, "2");
  t.notify(client, "notifications/cancelled", R"({"requestId":2})");
  CHECK(t.state_of(cancelled) == "cancelled");
  CHECK(client.take_lines().empty());
  t.leave(client);
  CHECK(t.state_of(left) == "working");
}

TEST_CASE("what cannot be a job is a request like any other, and so is what has no room") {
  JobOptions options;
  options.limits.jobs = 1;
  JobFixture t(options);
  FakeClient& client = t.connect();
  CHECK(call_for_later(t, client, "1", "ping").empty());
  CHECK_FALSE(call_for_later(t, client, "2").empty());
  CHECK(call_for_later(t, client, "3").empty());
  CHECK(t.upstream.methods() == Lines{"ping", "tools/call", "tools/call"});
  CHECK(t.runner.store().size() == 1);
}

TEST_CASE("no caller is left behind by jobs that have ended") {
  JobFixture t;
  FakeClient& client = t.connect();
  t.submit(client, "a");
  CHECK(t.other_callers() == 1);
  t.answer_call("a");
  CHECK(t.other_callers() == 0);
}

TEST_CASE("a question about a job takes no place until it is answered") {
  JobFixture t({}, places(1, 1));
  FakeClient& client = t.connect();
  const std::string first = t.submit(client, "first");
  const std::string second = t.submit(client, "second");
  CHECK(t.calls() == Lines{"first"});
  t.ask("1", t.id_of_call("first"));
  CHECK(t.state_of(first) == "input_required");
  CHECK(t.upstream.held == std::set<UpstreamId>{t.id_of_call("first")});
  CHECK(t.calls() == Lines{"first", "second"});
  t.answer_call("second");
  CHECK(t.state_of(second) == "completed");
  CHECK(contains(t.bridge(client, "answer", fmt::format(R"({{"job":"{}","result":{{}}}})", first)),
                 R"("result":{})"));
  CHECK(t.responses() == Lines{R"({"jsonrpc":"2.0","id":1,"result":{}})"});
  CHECK(t.state_of(first) == "working");
  CHECK(t.upstream.held.empty());
  t.submit(client, "third");
  CHECK(t.calls() == Lines{"first", "second"});
  t.answer_call("first");
  CHECK(t.calls() == Lines{"first", "second", "third"});
  t.answer_call("third");
  CHECK(t.router.in_flight() == 0);
}

TEST_CASE("questions are asked one after the other, and one that is withdrawn is asked no more") {
  JobFixture t;
  FakeClient& client = t.connect();
  const std::string job = t.submit(client, "a");
  const UpstreamId id = t.id_of_call("a");
  for (const char* question : {"1", "2", "3"}) t.ask(question, id);
  const auto cancel = [&](std::string_view which) {
    t.upstream.say(
        fmt::format(
            R"({{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{}}}}})",
            which),
        id);
  };
  cancel("2");
  cancel("1");
  CHECK(t.state_of(job) == "input_required");
  t.bridge(client, "answer", fmt::format(R"({{"job":"{}","result":{{"n":3}}}})", job));
  CHECK(t.responses() == Lines{R"({"jsonrpc":"2.0","id":3,"result":{"n":3}})"});
  CHECK(t.state_of(job) == "working");
  CHECK(contains(t.bridge(client, "answer", fmt::format(R"({{"job":"{}","result":{{}}}})", job)),
                 "-32602"));
}

TEST_CASE("a question that nobody answers ends its job after --job-ttl, whatever --request-max") {
  JobOptions options;
  options.limits.ttl = 2h;
  JobFixture t(options);
  FakeClient& client = t.connect();
  const std::string job = t.submit(client, "a");
  t.advance(59min);
  t.ask("1", t.id_of_call("a"));
  t.advance(119min);
  CHECK(t.state_of(job) == "input_required");
  t.advance(2min);
  CHECK(t.state_of(job) == "failed");
  CHECK(contains(t.runner.store().find_job(job)->response, "--job-ttl"));
  CHECK(t.router.in_flight() == 0);
  CHECK(t.upstream.count("notifications/cancelled") == 1);
}

TEST_CASE("--request-max counts only while a job works") {
  JobFixture t;
  FakeClient& client = t.connect();
  const std::string job = t.submit(client, "a");
  t.advance(40min);
  t.ask("1", t.id_of_call("a"));
  t.advance(600min);
  t.bridge(client, "answer", fmt::format(R"({{"job":"{}","result":{{}}}})", job));
  t.advance(19min);
  CHECK(t.state_of(job) == "working");
  t.advance(2min);
  CHECK(t.state_of(job) == "failed");
  CHECK(contains(t.runner.store().find_job(job)->response, "--request-max"));
}

TEST_CASE("--request-max does not count while a job waits for a place") {
  JobFixture t({}, places(1));
  FakeClient& client = t.connect();
  t.submit(client, "first");
  const std::string second = t.submit(client, "second");
  t.advance(61min);  // ends the first one
  CHECK(t.calls() == Lines{"first", "second"});
  t.advance(58min);
  CHECK(t.state_of(second) == "working");
  t.advance(2min);
  CHECK(t.state_of(second) == "failed");
}

TEST_CASE("a collector that answers is asked, and whoever answers first counts") {
  JobFixture t;
  FakeClient& asker = t.connect();
  FakeClient& other = t.connect();
  const std::string job = t.submit(other, "a");
  t.collect(asker, job, "\"c\"", R"(,"answer":true)");
  t.ask("1", t.id_of_call("a"));
  CHECK(t.state_of(job) == "working");
  const Lines asked = asker.take_lines();
  REQUIRE(asked.size() == 1);
  CHECK(contains(asked.front(), R"("id":"question-1","method":"sampling/createMessage")"));
  // A client that was not asked cannot answer by the id.
  t.send(other, R"({"jsonrpc":"2.0","id":"question-1","result":{"from":"other"}})");
  CHECK(t.responses().empty());
  t.bridge(other, "answer", fmt::format(R"({{"job":"{}","result":{{"by":"method"}}}})", job));
  CHECK(t.responses() == Lines{R"({"jsonrpc":"2.0","id":1,"result":{"by":"method"}})"});
  CHECK(contains(asker.take_lines().front(), "notifications/cancelled"));
  t.send(asker, R"({"jsonrpc":"2.0","id":"question-1","result":{}})");
  CHECK(t.responses().empty());
  t.answer_call("a");
  CHECK(contains(asker.take_lines().front(), R"("state":"completed")"));
}

TEST_CASE("a question goes from a collector that leaves to the next, and is kept then") {
  JobFixture t;
  FakeClient& first = t.connect();
  FakeClient& second = t.connect();
  FakeClient& plain = t.connect();
  const std::string job = t.submit(plain, "a");
  t.collect(first, job, "1", R"(,"answer":true)");
  t.collect(second, job, "1", R"(,"answer":true)");
  t.collect(plain, job);
  t.ask("1", t.id_of_call("a"));
  CHECK(first.take_lines().size() == 1);
  CHECK(second.take_lines().empty());
  t.leave(first);
  CHECK(second.take_lines().size() == 1);
  CHECK(plain.take_lines().empty());
  t.half_close(second);
  CHECK(t.state_of(job) == "input_required");
  CHECK(contains(plain.take_lines().back(), R"("state":"input_required")"));
  CHECK(contains(second.take_lines().back(), R"("state":"input_required")"));
  CHECK(t.collectors.size() == 0);
}

TEST_CASE("who begins to wait and answers is asked what is open already") {
  JobFixture t;
  FakeClient& client = t.connect();
  const std::string job = t.submit(client, "a");
  t.ask("1", t.id_of_call("a"));
  t.collect(client, job, "1");
  CHECK(contains(client.take_lines().back(), R"("question":{"method":"sampling/createMessage")"));
  t.collect(client, job, "2", R"(,"answer":true)");
  CHECK(contains(client.take_lines().back(), R"("id":"question-1")"));
  CHECK(t.state_of(job) == "working");
  t.advance(61s);
  const Lines lines = client.take_lines();
  REQUIRE(lines.size() == 2);
  CHECK(contains(lines[0], "notifications/cancelled"));
  CHECK(contains(lines[1], R"("state":"input_required")"));
}

TEST_CASE("a collector whose queue is full is told when it has room") {
  JobFixture t;
  FakeClient& client = t.connect();
  const std::string job = t.submit(client, "a");
  t.collect(client, job);
  client.is_congested = true;
  t.in_turn([&] { t.router.from_clients().client_congestion(client.identity().id, true); });
  t.answer_call("a");
  CHECK(client.take_lines().empty());
  client.is_congested = false;
  t.in_turn([&] { t.router.from_clients().client_congestion(client.identity().id, false); });
  CHECK(client.take_lines().size() == 1);
}

TEST_CASE("with --orphans keep a request in flight becomes a job of its user") {
  RouterOptions options;
  options.orphans = Orphans::keep;
  JobFixture t({}, options);
  FakeClient& client = t.connect();
  t.send(
      client,
      R"({"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"a","_meta":{"progressToken":"t"}}})");
  const UpstreamId id = t.id_of_call("a");
  t.leave(client);
  REQUIRE(t.runner.store().size() == 1);
  CHECK(t.upstream.lifted == std::vector<UpstreamId>{id});
  CHECK(t.upstream.abandoned.empty());
  t.upstream.say(
      fmt::format(
          R"({{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{},"progress":3}}}})",
          value_of(id)),
      id);
  t.answer_call("a");
  t.runner.store().each_newest_first([](const Job& job) {
    CHECK(job.state == JobState::completed);
    CHECK(job.user == User{false, 1000});
    CHECK(job.progress == R"({"progress":3})");
    CHECK(job.response == R"({"jsonrpc":"2.0","id":null,"result":{}})");
    return true;
  });
}

TEST_CASE("in turns of one client at a time jobs are served and hold nobody up") {
  RouterOptions options;
  options.sequential = true;
  JobFixture t({}, options);
  FakeClient& served = t.connect();
  t.call(served, "1", "ordinary");
  FakeClient& waits = t.connect();
  t.submit(waits, "job");
  CHECK(t.calls() == Lines{"ordinary", "job"});
  t.leave(served);
  t.call(waits, "1", "next");
  CHECK(t.calls() == Lines{"ordinary", "job", "next"});
}

constexpr std::string_view unknown = R"("error":{"code":-32601,"message":"no"})";

TEST_CASE("a question about another client's request is never a job's") {
  JobFixture t;
  FakeClient& client = t.connect();
  const std::string job = t.submit(client, "job's");
  t.call(client, "1", "own");
  for (const char* method : {"sampling/createMessage", "elicitation/create", "vendor/ask"}) {
    CAPTURE(method);
    t.ask("1", t.id_of_call("own"), method);
    CHECK(t.is_refused());
    CHECK(t.state_of(job) == "working");
  }
  t.leave(client);
  t.ask("1", t.id_of_call("own"));
  CHECK(t.is_refused());
  CHECK(t.state_of(job) == "working");
  // About the job's own request, or about none, it belongs to the job.
  t.ask("2", t.id_of_call("job's"));
  CHECK(t.state_of(job) == "input_required");
}

TEST_CASE("who does not know a question is not asked it again for the job of its own request") {
  JobFixture t;
  FakeClient& client = t.connect_answering(R"("sampling/createMessage")");
  const std::string job = call_for_later(t, client, "\"later\"");
  t.call(client, "1", "ordinary");
  t.ask("1");
  const Lines asked = take_but_notices(client);
  REQUIRE(asked.size() == 1);
  const std::string id(find_member(asked.front(), "id").value_or(""));
  REQUIRE_FALSE(contains(id, "question"));
  t.send(client, fmt::format(R"({{"jsonrpc":"2.0","id":{},{}}})", id, unknown));
  CHECK(client.take_lines().empty());
  CHECK(t.state_of(job) == "input_required");
  CHECK(t.responses().empty());
}

TEST_CASE("who did not know a question about a job is not asked it when the job has ended") {
  JobFixture t;
  FakeClient& client = t.connect_answering(R"("sampling/createMessage")");
  call_for_later(t, client, "\"later\"");
  const std::string other = t.submit(client, "b");
  t.ask("1");
  CHECK(contains(client.take_lines().back(), R"("id":"question-1")"));
  t.send(client, fmt::format(R"({{"jsonrpc":"2.0","id":"question-1",{}}})", unknown));
  t.answer_call("a");
  const Lines lines = client.take_lines();
  REQUIRE(lines.size() == 1);
  CHECK(contains(lines.front(), R"("id":"later")"));
  CHECK(t.state_of(other) == "input_required");
  t.answer_call("b");
  CHECK(client.take_lines().empty());
}

TEST_CASE("what a client is asked for the job that it cancels is withdrawn first") {
  JobFixture t;
  FakeClient& client = t.connect_answering(R"("sampling/createMessage")");
  call_for_later(t, client, "1");
  t.ask("1");
  CHECK(contains(client.take_lines().back(), R"("id":"question-1")"));
  t.notify(client, "notifications/cancelled", R"({"requestId":1})");
  const Lines lines = take_but_notices(client);
  REQUIRE(lines.size() == 2);
  CHECK(contains(lines[0], R"("notifications/cancelled","params":{"requestId":"question-1")"));
  CHECK(contains(lines[1], "sampling/createMessage"));
}

TEST_CASE("an answer to a question that was taken back is no answer to the next one") {
  JobFixture t;
  FakeClient& client = t.connect();
  const std::string job = t.submit(client, "a");
  const auto shown = [&] {
    const std::string collected =
        t.bridge(client, "collect", fmt::format(R"({{"job":"{}"}})", job));
    const std::size_t at = collected.find("\"questionId\":\"");
    return at == collected.npos ? std::string() : collected.substr(at + 14, 16);
  };
  const auto answer = [&](const std::string& question) {
    return t.bridge(
        client, "answer",
        fmt::format(R"({{"job":"{}","questionId":"{}","result":{{}}}})", job, question));
  };
  t.ask("1", t.id_of_call("a"), "elicitation/create");
  const std::string first = shown();
  t.ask("2", t.id_of_call("a"));
  CHECK(shown() == first);
  t.upstream.say(
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})");
  const std::string second = shown();
  CHECK(first.size() == 16);
  CHECK(second != first);
  CHECK(contains(answer(first), "this question is closed"));
  CHECK(t.state_of(job) == "input_required");
  CHECK(contains(answer(second), R"("result":{})"));
  CHECK(t.state_of(job) == "working");
}

TEST_CASE("a question about no request goes to the oldest job, and outlives it") {
  JobFixture t;
  FakeClient& client = t.connect();
  const std::string first = t.submit(client, "a");
  const std::string second = t.submit(client, "b");
  t.ask("1");
  CHECK(t.state_of(first) == "input_required");
  t.answer_call("a");
  CHECK(t.state_of(second) == "input_required");
  t.bridge(client, "cancel", fmt::format(R"({{"job":"{}"}})", second));
  CHECK(t.router.parked() == 1);
  FakeClient& other = t.connect();
  t.call_and_answer(other);
  t.notify(other, "bridge/answers", R"({"methods":["sampling/createMessage"]})");
  const Lines lines = other.take_lines();
  REQUIRE(lines.size() == 2);
  CHECK(contains(lines.front(), R"("caller":"another")"));
  CHECK(contains(lines.back(), "sampling/createMessage"));
}

TEST_CASE("a question about no request goes to a client with a call in flight before a job") {
  JobFixture t;
  FakeClient& client = t.connect();
  const std::string job = t.submit(client, "a");
  FakeClient& caller = t.connect_answering(R"("sampling/createMessage")");
  t.call(caller, "1", "plain");
  t.ask("1");
  CHECK(t.state_of(job) == "working");
  CHECK(contains(caller.take_lines().back(), "sampling/createMessage"));
  t.leave(caller);
  CHECK(t.state_of(job) == "input_required");
}

TEST_CASE("what a job was asked is asked of who can answer when it has ended, else refused") {
  for (const bool can_answer : {false, true}) {
    CAPTURE(can_answer);
    JobFixture t;
    FakeClient& client = t.connect();
    const std::string job = t.submit(client, "a");
    FakeClient& caller = t.connect();
    t.call(caller, "1", "plain");
    t.ask("1");
    CHECK(t.state_of(job) == "input_required");
    if (can_answer) t.notify(caller, "bridge/answers", R"({"methods":["sampling/createMessage"]})");
    CHECK(caller.take_lines().empty());
    t.answer_call("a");
    const Lines told = caller.take_lines();
    REQUIRE_FALSE(told.empty());
    CHECK(contains(told.back(), can_answer ? "sampling/createMessage" : "question_refused"));
    CHECK(t.is_refused() != can_answer);
  }
}

TEST_CASE("at the end of the daemon everybody who waits is told") {
  JobFixture t;
  FakeClient& client = t.connect();
  const std::string job = t.submit(client, "a");
  t.collect(client, job);
  t.in_turn([&] {
    t.router.begin_shutdown();
    t.router.end_shutdown();
    t.runner.settle();
    t.collectors.tell_all();
  });
  CHECK(contains(client.take_lines().back(), R"("kind":"shutdown")"));
  CHECK(contains(t.bridge(client, "submit", R"({"method":"tools/list"})"), R"("state":"working")"));
}

}  // namespace
}  // namespace bridge
