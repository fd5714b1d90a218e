#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "http/client/response_head.hpp"
#include "upstream/streamable_http/failures.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// A longer body or event is not taken for an error about the session.
constexpr std::size_t longest_error = 4u << 10;

/// A response that has ended, and what decides about its meaning.
struct CompleteAnswer {
  const ResponseHead& head;
  const std::string& body;  ///< of a stream: empty
  const Outgoing& message;
  SessionNamedBy session_named_by = SessionNamedBy::nothing;  ///< by the message
  bool answers_elsewhere = false;                             ///< HTTP+SSE
  bool has_server_stream = false;
};

enum class AnswerMeaning : std::uint8_t {
  delivered,        ///< nothing else is awaited, or nothing came of what is
  denies_session,   ///< a text that the session is missing
  elsewhere,        ///< the answer comes on another stream
  message,          ///< the body is the answer
  perhaps_message,  ///< the body is a message; the answer may come on another stream
  stream,           ///< the answer's stream
  not_json,
};

/// What a success means (MCP 2025-11-25, "Sending Messages to the Server"; BEHAVIOUR, "Streamable
/// HTTP: answers"). Pure, like all below.
AnswerMeaning meaning_of(const CompleteAnswer& answer);

/// Whether a response that broke says by its status that the message was taken, so that its answer
/// may come on another stream; or the server of HTTP+SSE, whose stream is open, closed without a
/// byte.
bool was_taken(const CompleteAnswer& answer, const Failure& failure);

/// Whether the answer to a message may come on another stream than its own: that to an `initialize`
/// has no other stream yet, and one without a session never has.
inline bool may_be_answered_elsewhere(const Outgoing& message) {
  return message.notes.stateful && !message.begins_run();
}

/// Whether the body is a JSON message which answers a request that was answered already.
bool is_late_message(const CompleteAnswer& answer);

}  // namespace bridge
