#pragma once

#include "json/document.hpp"

namespace client {

/// A client's request as recorded by `mcp-nc record`, with its response.
struct RecordedRequest {
  std::string method;
  std::string params;  ///< JSON without `_meta`, "" = none
  std::string answer;  ///< the JSON of the result, or of the error
  bool has_failed = false;
};

struct Recording {
  std::vector<RecordedRequest> requests{};  ///< those that can be sent again, in order
  std::size_t left_out = 0;    ///< requests that are recorded only in part, or without a response
  std::size_t wrong_line = 0;  ///< the first invalid one, counted from 1; 0 = none
};

/// Reads lines of bridge/monitor; a truncated last one is skipped, and so are messages about the
/// session itself: `initialize`, `server/discover`, `ping`, `subscriptions/listen`, `bridge/…`.
/// Pure.
Recording read_recording(std::string_view text);

/// Whether two JSON texts are equal except for `_meta`: members in any order. Pure.
bool is_same_answer(std::string_view left, std::string_view right);

}  // namespace client
