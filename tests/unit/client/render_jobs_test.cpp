#include <doctest/doctest.h>

#include "verbs/jobs.hpp"

using namespace client;

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
