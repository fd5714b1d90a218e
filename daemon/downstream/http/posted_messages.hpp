#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "base/log.hpp"
#include "http/request.hpp"
#include "http/response.hpp"
#include "json/frame.hpp"
#include "json/json_text.hpp"
#include "mcp/tool_headers.hpp"

namespace bridge {

// What a POST contains, of which era it is, and the responses that need no client. Pure.

/// A JSON-RPC error without an id, for a failure before there was a message.
HttpResponse error_response(int status, int code, std::string_view message);
/// 404: the session has ended, or never existed.
HttpResponse session_not_found();
/// 406: the response to this request would be an event stream.
HttpResponse no_stream_wanted();
/// 503: a limit is reached for now.
HttpResponse full_response(std::string_view what);
/// 503: --max-buffered is used up for now.
HttpResponse overloaded_response();

/// The body of a response: one message, or one array for an array of requests.
std::string answer_body(std::vector<std::string>&& answers, bool is_batch);

/// `{"accepted":[…]}`, with raw ids.
std::string accepted_body(const std::vector<std::string>& raw_ids);

/// The message that cancels a request whose caller was answered with an error.
std::string cancellation_of(std::string_view raw_id);

/// Ids of requests, compared by meaning: `"a"` and `"\\u0061"` are equal. Bounded by its owner.
class IdSet {
 public:
  void insert(std::string raw_id) {
    std::string key = canonical_id(raw_id);
    ids_.emplace(std::move(key), std::move(raw_id));
  }
  bool contains(std::string_view raw_id) const { return ids_.contains(canonical_id(raw_id)); }
  /// Returns whether it was there.
  bool erase(std::string_view raw_id) { return ids_.erase(canonical_id(raw_id)) > 0; }
  bool empty() const { return ids_.empty(); }

  /// As they were written, in no order; clears the set.
  std::vector<std::string> take_all() {
    std::vector<std::string> raw_ids;
    for (auto& [key, raw_id] : ids_) raw_ids.push_back(std::move(raw_id));
    ids_.clear();
    return raw_ids;
  }

  template <class A>
  void each_field(A& archive) {
    archive(ids_);
  }

 private:
  std::unordered_map<std::string, std::string> ids_;
};

/// Whether this JSON-RPC message expects a response.
inline bool is_request_text(std::string_view message) {
  return find_member(message, "method").has_value() && find_member(message, "id").has_value();
}

struct PostedMessages {
  static constexpr std::size_t max_messages = 1000;

  std::vector<Frame> messages;           ///< in order, each one line
  std::vector<std::string> request_ids;  ///< of the requests among them, raw, in order
  IdSet ids;                             ///< the same
  std::vector<std::string> faults;       ///< error responses to array elements without a message
  bool is_batch = false;
  bool initializes = false;   ///< a single `initialize`
  bool is_for_later = false;  ///< no caller waits for the responses; set by the frontend
};

/// Reads a body: one JSON-RPC message, or an array of at most max_messages. The whole body is at
/// fault if it is not JSON, if its only message is faulty, or if two requests have the same id.
std::variant<PostedMessages, FrameFault> read_posted(ReceivedText body);

/// The caller's program, printable.
inline std::string user_agent(const RequestHead& head) {
  return printable(head.header("user-agent"), 80);
}

/// Whether the head names no revision, or a known one of either era.
bool names_known_version(const RequestHead& head);

/// 400 with the -32022 that names all revisions. REQUIRES: !names_known_version().
HttpResponse unknown_version(const RequestHead& head, const PostedMessages& posted);

/// Whether the head names the revision that has neither sessions nor their streams.
bool names_modern_version(const RequestHead& head);

/// Whether it is of the revision without sessions: a request names its revision itself, else the
/// head does. An `initialize` that does not name that revision opens a legacy session all the same
/// (MCP 2026-07-28, "Versioning: Backward Compatibility").
bool is_modern(const RequestHead& head, const PostedMessages& posted);

/// Returns the refusal, under the id of the request: not a single request or notification, head and
/// body that disagree (MCP 2026-07-28, "Server Validation"; `known` are the tools whose parameters
/// have headers), an unsupported revision, no `_meta`. REQUIRES: it is of that revision.
std::optional<HttpResponse> modern_fault(const RequestHead& head, const PostedMessages& posted,
                                         const HeadersOfTools& known);

/// The status of a modern response that is one body: 404 with -32601, 400 with the errors that MCP
/// itself defines, else 200.
int status_of_answer(std::string_view response);

}  // namespace bridge
