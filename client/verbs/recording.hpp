#pragma once

#include "json/document.hpp"

namespace client {

/// A request of a client as `mcp-nc record` has seen it, with its answer.
struct RecordedRequest {
  std::string method;
  std::string params;  ///< JSON without `_meta`, "" = none
  std::string answer;  ///< the JSON of the result, or of the error
  bool has_failed = false;
};

struct Recording {
  std::vector<RecordedRequest> requests{};  ///< those that can be sent again, in their order
  std::size_t left_out = 0;    ///< of which the answer, or a part of the request, is not in it
  std::size_t wrong_line = 0;  ///< the first that no record has, counted from 1; 0 = none
};

/// Lines of bridge/monitor; a last one that is cut off is passed over. What is about the session
/// itself is too: `initialize`, `server/discover`, `ping`, `subscriptions/listen`, `bridge/…`.
/// Pure.
Recording read_recording(std::string_view text);

/// Whether two JSON texts mean the same, but for `_meta`: members in any order. Pure.
bool is_same_answer(std::string_view left, std::string_view right);

}  // namespace client
