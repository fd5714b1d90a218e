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

/// What a server needs before it continues. At least one of the two is present.
struct InputRequired {
  std::vector<InputRequest> requests;
  std::string request_state;  ///< as JSON, with its quotes, byte for byte; empty: none
};

/// Reads an `input_required` result; returns the error, for a message, if it is not valid: more
/// than max_input_requests, a method other than the three, a repeated key, a member of the wrong
/// type, or neither questions nor a state. `result` is the JSON of the result.
std::variant<InputRequired, std::string_view> read_input_required(std::string_view result);

/// The question as a request to a legacy client, under the bridge's id (JSON).
std::string input_request_line(const InputRequest& request, std::string_view raw_id);

/// The original request again, under another id and with the answers in its params: inputResponses
/// (left out if there are none) and requestState (left out if empty). They replace those of the
/// original; all else stays byte for byte. REQUIRES: a request whose params are absent or an
/// object.
std::string retry_request(const Frame& original, std::string_view raw_id,
                          const std::vector<InputResponse>& responses,
                          std::string_view raw_request_state);

/// The JSON of an `input_required` result with these questions. `request_state` is text, not JSON.
std::string input_required_result(const std::vector<InputRequest>& requests,
                                  std::string_view request_state);

/// The contents of a retry.
struct InputAnswers {
  std::vector<InputResponse> responses;
  std::string request_state;  ///< as text; untrusted, since a client sends it
  bool has_state = false;
};

/// Reads inputResponses and requestState of a request; otherwise returns the message of a -32602: a
/// repeated key or member, a wrong type, or more than max_input_requests. Both are empty if the
/// request has neither.
std::variant<InputAnswers, std::string_view> read_input_answers(const Frame& request);

/// The request without inputResponses and requestState, which legacy servers do not know.
std::string without_input_answers(const Frame& request);

// Translates a legacy server's response for a modern client. A modern server's response to a legacy
// client stays byte for byte (legacy clients ignore what they do not know in a result), unless its
// resultType is `input_required` (mcp/input_required.hpp) or `task`. Pure.

bool is_input_required(const Frame& response);

/// Whether it can be passed to a legacy client: an error, or a result whose resultType is missing
/// or "complete". Any other value, of any JSON type, is an error (MCP 2026-07-28, basic,
/// "ResultType").
bool is_complete(const Frame& response);

/// Whether the result of this request is to have a `resultType`.
inline bool wants_result_type(const Frame& request) { return request.is_modern(); }

/// `response`, to a request of `method`, in the form for a modern client. At most one pass over the
/// result. A result without resultType, or with one that is not a string, becomes `complete`; a
/// cacheable one without ttlMs or cacheScope gets 0 and "private", so that it is not cached. Of the
/// errors that the revision forbids (basic, "Error Codes"), -32002 becomes -32602. -32042 becomes
/// an `input_required` result with one `elicitation/create` of mode url for each of its
/// data.elicitations (at most 64); for a client that does not answer those it becomes -32021, and
/// -32603 if the error or the method does not permit that. All else stays byte for byte, also a
/// result that is not an object.
Frame for_modern_client(Frame response, std::string_view method, bool client_answers_urls);

/// Whether it is an error, or a tool's result that reports one (`isError`).
bool has_failed(const Frame& response);

/// -32021 in place of this response, since the server had to ask for what the request did not
/// declare (MCP 2026-07-28, basic, "Error Codes"). `capabilities`: the missing ones, as JSON.
/// `keeps_answer`: its data contains the error or result, since that may have another cause.
Frame missing_capability(const Frame& response, std::string_view capabilities, bool keeps_answer);

}  // namespace bridge
