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
  return session_verdict(status, failure_of_status(test.context, head, body).error_object,
                         carried ? SessionNamedBy::header : SessionNamedBy::nothing);
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
  // What is not JSON-RPC stays so.
  for (const char* other :
       {R"({"error":{"message":"no session"}})", R"({"jsonrpc":"2.0","error":"session"})",
        R"({"jsonrpc":"2.0","error":{"message":"session"})"}) {
    CAPTURE(other);
    CHECK(verdict(400, other) == SessionVerdict::kept);
  }
}

TEST_CASE("what real servers say to a session they do not know is told from all else") {
  struct Row {
    int status;
    std::string error;
    SessionNamedBy named_by;
    SessionVerdict verdict;
    const char* who;
  };
  const auto error = [](int code, const std::string& message) {
    return R"({"code":)" + std::to_string(code) + R"(,"message":")" + message + "\"}";
  };
  using enum SessionNamedBy;
  using enum SessionVerdict;
  const Row rows[] = {
      {404, "", header, lost, "a server that says nothing more"},
      {404, "", nothing, kept, "no such path: the message was in no session"},
      {404, "", endpoint, lost, "HTTP+SSE: the endpoint of a session that is over"},
      {404, error(-32601, "Method not found"), endpoint, lost, "and whatever it says of it"},
      {404, error(-32001, "Session not found"), header, lost, "the TypeScript SDK"},
      {404, error(-32600, "Session terminated"), header, lost, "the Python SDK"},
      {404, error(-32601, "Method not found"), header, kept, "a server of MCP 2026-07-28"},
      {400, error(-32000, "Bad Request: No valid session ID provided"), header, doubtful,
       "server-everything"},
      {400, error(-32000, "Bad Request: Server not initialized"), header, doubtful,
       "the TypeScript SDK, started anew"},
      {400, error(-32000, "Bad Request: Server not initialized"), nothing, doubtful, "without ids"},
      {400, error(-32000, "no session"), endpoint, doubtful, "HTTP+SSE"},
      {400, error(-32602, "Received request before initialization was complete"), header, doubtful,
       "the Python SDK"},
      {400, error(-32600, "Invalid Request: Server already initialized"), header, kept,
       "a second initialize"},
      {400, error(-32700, "Parse error"), header, kept, "any error of JSON-RPC"},
      {400, "", header, kept, "a gateway"},
      {401, error(-32000, "session expired"), header, kept, "that is for a token"},
      {409, error(-32000, "Conflict: Only one SSE stream is allowed per session"), header, kept,
       "a second stream"},
      {500, error(-32603, "session store is down"), header, kept, "a fault of the server"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.who);
    CHECK(session_verdict(row.status, row.error, row.named_by) == row.verdict);
  }
}

TEST_CASE("a server stream that was open before is not given up for one odd answer") {
  const std::string unknown = R"({"code":-32000,"message":"No valid session ID provided"})";
  using enum StreamRefusal;
  const auto refusal = [](int status, const std::string& error, bool was_open) {
    return stream_refusal(status, error, SessionNamedBy::header, was_open);
  };
  for (const int status : {400, 404, 405}) {
    CAPTURE(status);
    CHECK(refusal(status, "", false) == not_offered);
    CHECK(refusal(status, unknown, false) == not_offered);
  }
  CHECK(refusal(405, unknown, true) == not_offered);
  CHECK(refusal(404, "", true) == lost_session);
  CHECK(refusal(400, unknown, true) == lost_session);
  CHECK(refusal(400, "", true) == passing);
  CHECK(stream_refusal(404, "", SessionNamedBy::nothing, true) == passing);
  for (const int status : {401, 403, 409, 410, 429}) {
    CAPTURE(status);
    CHECK(refusal(status, unknown, true) == passing);
    CHECK(refusal(status, unknown, false) == passing);
  }
}
