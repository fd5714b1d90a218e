#include "verbs/job_messages.hpp"

#include <doctest/doctest.h>

using namespace client;
using Phase = CollectedJob::Phase;

TEST_CASE("a call is submitted as it would be sent, with its key if it has one") {
  CHECK(submit_params(R"({"name":"t"})", "") == R"({"method":"tools/call","params":{"name":"t"}})");
  CHECK(submit_params(R"({"name":"t"})", "a\"b") ==
        R"({"method":"tools/call","params":{"name":"t"},"key":"a\"b"})");
}

TEST_CASE("a collect waits for the time there is, an hour at most") {
  CHECK(job_object("a\"b").add("waitMs", longest_wait_ms(Milliseconds(5))).text() ==
        R"({"job":"a\"b","waitMs":5})");
  CHECK(longest_wait_ms(Milliseconds::max()) == 3600000);
}

TEST_CASE("what was submitted is read, also of a key whose job is forgotten") {
  const auto job = read_submitted(R"({"job":"j\u0031","state":"working","durable":true})");
  REQUIRE(job);
  CHECK(job->id == "j1");
  CHECK_FALSE(job->forgotten);
  CHECK(read_submitted(R"({"job":"j","state":"failed","forgotten":true})")->forgotten);
  CHECK_FALSE(read_submitted(R"({"job":"j"})"));
  CHECK_FALSE(read_submitted(R"({"job":1,"state":"working"})"));
  CHECK_FALSE(read_submitted("[]"));
}

TEST_CASE("a job works, asks or has ended") {
  CHECK(read_collected(R"({"job":"j","state":"working"})")->phase == Phase::working);
  const auto asks = read_collected(
      R"({"state":"input_required","question":{"method":"elicitation/create","params":{"a":1}}})");
  REQUIRE(asks);
  CHECK(asks->phase == Phase::asks);
  CHECK(asks->question_method == "elicitation/create");
  CHECK(asks->question_params == R"({"a":1})");
  CHECK(asks->question_id.empty());
  const auto named = read_collected(R"({"state":"input_required","questionId":"q1"})");
  REQUIRE(named);
  CHECK(answer_object("j", named->question_id).add("result", json::JsonObject()).text() ==
        R"({"job":"j","questionId":"q1","result":{}})");
  CHECK(answer_object("j", "").add("result", json::JsonObject()).text() ==
        R"({"job":"j","result":{}})");
  const auto done =
      read_collected(R"({"state":"completed","response":{"id":null,"result":{"n":0.10}}})");
  REQUIRE(done);
  CHECK(done->phase == Phase::ended);
  CHECK(done->result == R"({"n":0.10})");
  CHECK(done->error.empty());
  const auto failed = read_collected(R"({"state":"failed","response":{"id":null,"error":{}}})");
  REQUIRE(failed);
  CHECK(failed->error == "{}");
  const auto cancelled = read_collected(R"({"state":"cancelled"})");
  REQUIRE(cancelled);
  CHECK(cancelled->phase == Phase::ended);
  CHECK(cancelled->result.empty());
  CHECK(cancelled->error.empty());
}

TEST_CASE("a job in an unknown state or without its response cannot be read") {
  CHECK_FALSE(read_collected(R"({"state":"resting"})"));
  CHECK_FALSE(read_collected(R"({"state":"completed"})"));
  CHECK_FALSE(read_collected(R"({"state":"completed","response":[]})"));
  CHECK_FALSE(read_collected("{}"));
}
