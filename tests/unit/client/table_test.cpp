#include <doctest/doctest.h>

#include "render/table.hpp"
#include "verbs/jobs.hpp"
#include "verbs/operands.hpp"

using namespace client;

TEST_CASE("tasks are a table whose ids are whole and safe for a terminal") {
  const auto tasks = json::parse(
      R"([{"taskId":"0123456789abcdef","status":"working","createdAt":"2026-01-02T03:04:05Z",
           "ttl":60000,"statusMessage":"under\nway"},
          {"taskId":"\u001b2","status":"failed","createdAt":"2026-01-02T03:04:06Z","ttl":null}])");
  REQUIRE(tasks);
  CHECK(draw_lines(render_tasks(tasks->items, Look{}), Look{}) ==
        "TASK              STATE    CREATED                KEPT  THE SERVER SAYS\n"
        "0123456789abcdef  working  2026-01-02T03:04:05Z  1 min  under\\nway\n"
        "\\u001b2           failed   2026-01-02T03:04:06Z      -  -\n");
  CHECK(render_task(tasks->items[0]) == "working: under\\nway\n");
  CHECK(render_task(tasks->items[1]) == "failed\n");
}

TEST_CASE("of one task its state, its result or its end can be asked for") {
  const auto fault = [](std::vector<std::string> words) {
    Options options;
    options.verb = find_verb("tasks");
    options.operands = std::move(words);
    const auto params = prepare(options);
    const auto* error = std::get_if<UsageError>(&params);
    return error == nullptr ? std::string() : error->message;
  };
  CHECK(fault({}).empty());
  CHECK(fault({"get", "t"}).empty());
  CHECK(fault({"cancel", "t"}).empty());
  CHECK(fault({"result"}) == "usage: mcp-nc tasks result TASK");
  CHECK(fault({"result", ""}) == "TASK is empty or not UTF-8");
  CHECK(fault({"results", "t"}) == "unknown action 'results'; did you mean 'result'?");
}

TEST_CASE("jobs are a table whose ids are whole and safe for a terminal") {
  const auto jobs = json::parse(
      R"([{"job":"0123456789abcdef0123456789abcdef","state":"working","method":"tools/call",
           "tool":"re\u001bport","ageMs":5000,"bytes":1024,"key":"k","pid":7,"command":"sh"},
          {"job":"2","state":"failed","method":"resources/read","ageMs":0,"bytes":0,
           "key":"a key that is much longer than a column of a table"}])");
  REQUIRE(jobs);
  CHECK(draw_lines(render_jobs(jobs->items, Look{}), Look{}) ==
        "JOB                               STATE     AGE  CALL            BYTES  KEY"
        "                       PID  COMMAND\n"
        "0123456789abcdef0123456789abcdef  working   5 s  re\\u001bport    1 KiB  k"
        "                           7  sh\n"
        "2                                 failed   0 ms  resources/read    0 B  "
        "a key that is much lo...    -  -\n");
}

TEST_CASE("at a terminal ids of jobs are cut to what is unique, eight characters at least") {
  const auto jobs = json::parse(R"([{"job":"0123456789abcdef","state":"working"},
                                    {"job":"01234567a9abcdef","state":"failed"}])");
  REQUIRE(jobs);
  Look look;
  look.width = 80;
  const std::string shown = draw_lines(render_jobs(jobs->items, look), look);
  CHECK(shown.find("\n012345678  working") != std::string::npos);
  CHECK(shown.find("\n01234567a  failed") != std::string::npos);
}
