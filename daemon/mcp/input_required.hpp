#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "json/frame.hpp"

namespace bridge {

struct Frame;

// A server's questions inside a result, and a client's answers inside a retry (MCP 2026-07-28,
// "Multi Round-Trip Requests"), in both directions. Pure.

/// The most questions in one result, and answers in one retry.
constexpr std::size_t max_input_requests = 64;

/// One question.
struct InputRequest {
  std::string key;     ///< as JSON, with its quotes and escapes
  std::string method;  ///< elicitation/create, sampling/createMessage or roots/list
  std::string params;  ///< as JSON; empty: none

  template <class A>
  void each_field(A& archive) {
    archive(key, method, params);
  }
};

/// One answer, as JSON texts.
struct InputResponse {
  std::string key;
  std::string result;

  template <class A>
  void each_field(A& archive) {
    archive(key, result);
  }
};

/// What a server needs before it goes on. At least one of the two is there.
struct InputRequired {
  std::vector<InputRequest> requests;
  std::string request_state;  ///< as JSON, with its quotes, byte for byte; empty: none
};

/// Reads an `input_required` result; otherwise why it is none, for a person: more than
/// max_input_requests, a method other than the three, a key twice, a member of the wrong type, or
/// neither questions nor a state. `result` is the JSON of the result.
std::variant<InputRequired, std::string_view> read_input_required(std::string_view result);

/// The question as a request to a legacy client, under the bridge's id (JSON).
std::string input_request_line(const InputRequest& request, std::string_view raw_id);

/// The original request once more, under another id and with what was answered in its params:
/// inputResponses (left out if there are none) and requestState (left out if empty). Those that the
/// original had are dropped; all else stays byte for byte. REQUIRES: a request whose params are
/// absent or an object.
std::string retry_request(const Frame& original, std::string_view raw_id,
                          const std::vector<InputResponse>& responses,
                          std::string_view raw_request_state);

/// The JSON of an `input_required` result that asks this. `request_state` is text, not JSON.
std::string input_required_result(const std::vector<InputRequest>& requests,
                                  std::string_view request_state);

/// What a retry brings.
struct InputAnswers {
  std::vector<InputResponse> responses;
  std::string request_state;  ///< as text; it may be anything, a client sends it
  bool has_state = false;
};

/// Reads inputResponses and requestState of a request; otherwise the message of a -32602: a key or
/// one of the two twice, a wrong type, or more than max_input_requests. A request with neither
/// gives nothing of both.
std::variant<InputAnswers, std::string_view> read_input_answers(const Frame& request);

/// The request without inputResponses and requestState, which no legacy server knows.
std::string without_input_answers(const Frame& request);

// A legacy server's response as a modern client must see it. Toward a legacy client a modern
// server's response stays byte for byte (what a legacy client does not know in a result it leaves
// alone), unless its resultType is `input_required` (mcp/input_required.hpp) or `task`. Pure.

bool is_input_required(const Frame& response);

/// Whether a legacy client can be given it: an error, or a result whose resultType is missing or
/// "complete". Any other value, of whatever JSON type, is an error (MCP 2026-07-28, basic,
/// "ResultType").
bool is_complete(const Frame& response);

/// `response`, to a request of `method`, as a modern client must see it. One pass at most over
/// the result. A result without resultType, or with one that is no string, is `complete`; a
/// cacheable one without ttlMs or cacheScope says 0 and "private", so that nobody keeps it. Of the
/// errors that the revision forbids (basic, "Error Codes"), -32002 becomes -32602. -32042 becomes
/// an `input_required` result with one `elicitation/create` of mode url for each of its
/// data.elicitations (at most 64); for a client that does not answer those it becomes -32021, and
/// -32603 where it cannot be made of the error or for the method. Anything else stays byte for
/// byte, also a result that is no object.
Frame for_modern_client(Frame response, std::string_view method, bool client_answers_urls);

/// Whether it is an error, or the result of a tool that says so itself (`isError`).
bool has_failed(const Frame& response);

/// -32021 in place of this response, since the server had to ask what the request did not declare
/// (MCP 2026-07-28, basic, "Error Codes"). `capabilities`: as JSON, those that it lacks.
/// `keeps_answer`: the error or result is in its data, since it may have another cause.
Frame missing_capability(const Frame& response, std::string_view capabilities, bool keeps_answer);

}  // namespace bridge
