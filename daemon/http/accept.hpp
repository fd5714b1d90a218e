#pragma once

#include <string_view>

namespace bridge {

/// In which form a caller wants the answer to its POST (RFC 9110, section 12.5.1; BEHAVIOUR,
/// "HTTP face: posts").
enum class AnswerForm {
  json,    ///< one JSON body; nothing can come before the answer
  stream,  ///< an event stream from the start
  either,  ///< JSON, unless something has to be streamed
};

/// From the value of `Accept`: `text/event-stream` without JSON, or ranked before it (by `q`, then
/// by the order), is `stream`; JSON ranked first is `either`; all else is JSON.
AnswerForm answer_form(std::string_view accept);

/// Whether an event stream may be sent to this `Accept`: also for `*/*`, `text/*` or none at all.
bool accepts_stream(std::string_view accept);

/// Whether a `Content-Type` is JSON: `application/json` or `…+json`, whatever its parameters.
bool is_json_type(std::string_view content_type);

}  // namespace bridge
