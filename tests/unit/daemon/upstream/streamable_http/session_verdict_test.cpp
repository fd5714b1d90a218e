#include <doctest/doctest.h>

#include <string>

#include "failures_helpers.hpp"

using namespace bridge;

namespace {

std::string error_body(int code, const std::string& message) {
  return R"({"jsonrpc":"2.0","id":null,"error":{"code":)" + std::to_string(code) +
         R"(,"message":")" + message + "\"}}";
}

SessionVerdict verdict(int status, const std::string& body, bool carried = true,
                       const std::string& content_type = "application/json") {
  TestContext test;
  const ResponseHead head = head_with(status, content_type);
  return session_verdict(head, failure_of_status(test.context, head, body), carried);
}

}  // namespace

TEST_CASE("a 404 to a request that carried the session's id is a lost session") {
  CHECK(verdict(404, "") == SessionVerdict::lost);
  CHECK(verdict(404, "Not Found", true, "text/plain") == SessionVerdict::lost);
  CHECK(verdict(404, error_body(-32001, "Session not found")) == SessionVerdict::lost);
  CHECK(verdict(404, error_body(-32600, "x")) == SessionVerdict::lost);
  CHECK(verdict(404, error_body(-32001, "Session not found"), false) == SessionVerdict::kept);
  CHECK(verdict(404, "", false) == SessionVerdict::kept);
}

TEST_CASE("a 404 that is a JSON-RPC 'method not found' is none") {
  CHECK(verdict(404, error_body(-32601, "Method not found")) == SessionVerdict::kept);
  CHECK(verdict(404, error_body(-32601, "no such session method")) == SessionVerdict::kept);
  CHECK(verdict(404, "data: " + error_body(-32601, "x") + "\n\n", true, "text/event-stream") ==
        SessionVerdict::kept);
}

TEST_CASE("a 400 that speaks of the session, or of no initialization, is worth a doubt") {
  for (const char* message :
       {"Bad Request: No valid session ID provided", "Bad Request: Server not initialized",
        "SESSION expired", "Not Initialized", "unknown Session"}) {
    CAPTURE(message);
    CHECK(verdict(400, error_body(-32000, message)) == SessionVerdict::doubtful);
    CHECK(verdict(400, "event: message\ndata: " + error_body(-32000, message) + "\n\n", true,
                  "text/event-stream") == SessionVerdict::doubtful);
  }
}

TEST_CASE("'before initialization' counts with -32600 and -32602 alone") {
  const std::string message = "Received request before initialization was complete";
  CHECK(verdict(400, error_body(-32600, message)) == SessionVerdict::doubtful);
  CHECK(verdict(400, error_body(-32602, message)) == SessionVerdict::doubtful);
  CHECK(verdict(400, error_body(-32000, message)) == SessionVerdict::kept);
}

TEST_CASE("any other 400 is an answer like others") {
  CHECK(verdict(400, error_body(-32600, "Invalid Request: Server already initialized")) ==
        SessionVerdict::kept);
  CHECK(verdict(400, error_body(-32602, "Invalid params")) == SessionVerdict::kept);
  CHECK(verdict(400, error_body(-32700, "Parse error")) == SessionVerdict::kept);
  CHECK(verdict(400, "") == SessionVerdict::kept);
  CHECK(verdict(400, "no session", true, "text/plain") == SessionVerdict::kept);
  CHECK(verdict(400, R"({"error":"no session"})") == SessionVerdict::kept);
}

TEST_CASE("no other status says anything of the session") {
  for (const int status : {401, 403, 405, 409, 410, 429, 500, 503}) {
    CAPTURE(status);
    CHECK(verdict(status, error_body(-32000, "session not found")) == SessionVerdict::kept);
  }
}

TEST_CASE("an error that is about no request may have no id at all") {
  const std::string body =
      R"({"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}})";
  CHECK(verdict(400, body) == SessionVerdict::doubtful);
  TestContext test;
  CHECK(failure_of_status(test.context, head_with(400), body).error_object.find("-32000") !=
        std::string::npos);
  // What is no JSON-RPC stays none.
  for (const char* other :
       {R"({"error":{"message":"no session"}})", R"({"jsonrpc":"2.0","error":"session"})",
        R"({"jsonrpc":"2.0","error":{"message":"session"})"}) {
    CAPTURE(other);
    CHECK(verdict(400, other) == SessionVerdict::kept);
  }
}
