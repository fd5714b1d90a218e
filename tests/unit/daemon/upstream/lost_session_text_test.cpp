#include <doctest/doctest.h>

#include <string>

#include "upstream/lost_session_text.hpp"

using namespace bridge;

TEST_CASE("that a session is missing is read in any spelling") {
  for (const char* text : {"Session not found",
                           "Session not found or expired",
                           "SESSION_NOT_FOUND",
                           "sessionNotFound",
                           "invalid_session_id",
                           "Invalid or missing session ID",
                           "missing or invalid Mcp-Session-Id",
                           "No valid session",
                           "Unknown sessionId",
                           "session has been terminated",
                           "Session closed",
                           "the session is unknown on this instance",
                           "Server not initialized",
                           "NOT INITIALISED",
                           "server_not_initialized",
                           "uninitialized",
                           "initialize first",
                           "please initialize first",
                           "Received request before initialization was complete",
                           "Mcp-Session-Id header is required",
                           R"({"error":{"message":"Bad Request: No valid session ID provided"}})",
                           "data: {\"error\":\"SessionExpired\"}\n\n"})
    CHECK_MESSAGE(says_session_is_missing(text), text);
}

TEST_CASE("other texts do not say it") {
  for (const char* text :
       {"", "no", "not found", "session", "session store is down", "notification of a session",
        "I know this session", "obsession not", "Only one SSE stream is allowed per session",
        "Server already initialized", "unauthorized", "invalid token", "initialized", "nosession"})
    CHECK_MESSAGE(!says_session_is_missing(text), text);
  CHECK_FALSE(says_session_is_missing(std::string(5000, ' ') + "session not found"));
}
