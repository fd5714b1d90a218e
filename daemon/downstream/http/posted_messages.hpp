#pragma once

#include <string>
#include <variant>
#include <vector>

#include "downstream/http/id_set.hpp"
#include "jsonrpc/frame.hpp"

namespace bridge {

/// What a POST's body holds.
struct PostedMessages {
  static constexpr std::size_t max_messages = 1000;

  std::vector<Frame> messages;           ///< in their order, each one line
  std::vector<std::string> request_ids;  ///< of the requests among them, raw, in their order
  IdSet ids;                             ///< the same
  std::vector<std::string> faults;       ///< answers to what is no message in an array
  bool is_batch = false;
  bool initializes = false;  ///< it is an `initialize`, alone
};

/// Reads a body: one JSON-RPC message, or an array of at most max_messages of them. A fault of the
/// whole body is one of JSON, of a single message, or two requests of the same id.
std::variant<PostedMessages, FrameFault> read_posted(ReceivedText body);

}  // namespace bridge
