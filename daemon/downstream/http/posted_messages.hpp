#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "downstream/http/pending_post.hpp"
#include "http/response.hpp"
#include "json/frame.hpp"

namespace bridge {

/// A JSON-RPC error without an id, for what failed before there was a message.
HttpResponse error_response(int status, int code, std::string_view message);
/// 404: ended, or never begun.
HttpResponse session_not_found();
/// 406: what answers this request is an event stream.
HttpResponse no_stream_wanted();
/// 503 for now: there are as many as there may be.
HttpResponse full_response(std::string_view what);
/// 503 for now: --max-buffered is used up.
HttpResponse overloaded_response();

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
