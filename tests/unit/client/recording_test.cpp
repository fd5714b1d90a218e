#include "verbs/recording.hpp"

#include <doctest/doctest.h>

using namespace client;

TEST_CASE("of a record the requests are left that have an answer and are not about the session") {
  const char* const lines =
      R"({"at":"t","passage":"from_client","client":1,"message":{"jsonrpc":"2.0","id":1,"method":"initialize"}}
{"passage":"from_client","client":1,"message":{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":1},"arguments":{"n":0.10}}}}
{"passage":"to_server","message":{"jsonrpc":"2.0","id":9,"method":"tools/call"}}
{"passage":"from_client","client":2,"message":{"jsonrpc":"2.0","id":2,"method":"tools/list"}}
{"passage":"to_client","client":2,"message":{"jsonrpc":"2.0","id":2,"error":{"code":-1}}}
{"passage":"to_client","client":1,"message":{"jsonrpc":"2.0","id":2,"result":{"x":1}}}
{"passage":"from_client","client":1,"message":{"jsonrpc":"2.0","id":3,"method":"bridge/status"}}
{"passage":"from_client","client":1,"message":{"jsonrpc":"2.0","id":4,"method":"x/y"}}
{"passage":"from_client","client":1,"text":"{\"jsonrpc\"","bytes":99999}
{"passage":"from_cl)";
  const Recording recording = read_recording(lines);
  REQUIRE(recording.requests.size() == 2);
  CHECK(recording.left_out == 2);
  CHECK(recording.requests[0].method == "tools/call");
  CHECK(recording.requests[0].params == R"({"name":"a","arguments":{"n":0.10}})");
  CHECK(recording.requests[0].answer == R"({"x":1})");
  CHECK_FALSE(recording.requests[0].has_failed);
  CHECK(recording.requests[1].params.empty());
  CHECK(recording.requests[1].has_failed);
  CHECK(recording.wrong_line == 0);  // the last line is truncated
  CHECK(read_recording("").requests.empty());
  CHECK(read_recording("").wrong_line == 0);
}

TEST_CASE("the first line that no record has is told") {
  constexpr const char* line = R"({"passage":"to_server","message":{}})";
  CHECK(read_recording("garbage").wrong_line == 1);
  CHECK(read_recording("garbage\n").wrong_line == 1);
  CHECK(read_recording(std::string(line) + "\n{}\n" + line).wrong_line == 2);
  CHECK(read_recording(std::string(line) + "\n\n" + line + "\n").wrong_line == 0);
}

TEST_CASE("answers are the same whatever the order of their members and what _meta says") {
  CHECK(is_same_answer(R"({"a":[1,{"b":"x"}],"c":null})",
                       R"({"c":null,"a":[1,{"b":"x"}],"_meta":{}})"));
  CHECK_FALSE(is_same_answer(R"({"a":[1,2]})", R"({"a":[2,1]})"));
  CHECK_FALSE(is_same_answer(R"({"a":1})", R"({"a":1,"b":2})"));
  CHECK_FALSE(is_same_answer(R"({"a":1})", R"({"a":"1"})"));
  CHECK_FALSE(is_same_answer("true", "false"));
}
