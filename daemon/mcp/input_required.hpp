#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

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

}  // namespace bridge
