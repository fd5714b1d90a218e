#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "http/request.hpp"
#include "http/response.hpp"
#include "json/frame.hpp"
#include "json/json_text.hpp"
#include "mcp/tool_headers.hpp"

namespace bridge {

// What a POST holds, of which era it is, and the answers that need no client. Pure.

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

/// The body of an answer: of one message that message, of an array of requests one array.
std::string answer_body(const std::vector<std::string>& answers, bool is_batch);

/// `{"accepted":[…]}`, of raw ids.
std::string accepted_body(const std::vector<std::string>& raw_ids);

/// The line that cancels a request whose caller was answered by an error.
std::string cancellation_of(std::string_view raw_id);

/// Ids of requests, found by what they mean: `"a"` and `"\\u0061"` are one. Bounded by its owner.
class IdSet {
 public:
  void insert(std::string raw_id) {
    std::string key = canonical_id(raw_id);
    ids_.emplace(std::move(key), std::move(raw_id));
  }
  bool contains(std::string_view raw_id) const { return ids_.contains(canonical_id(raw_id)); }
  /// Whether it was there.
  bool erase(std::string_view raw_id) { return ids_.erase(canonical_id(raw_id)) > 0; }
  bool empty() const { return ids_.empty(); }

  /// As they were written, in no order; none are left.
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

/// Whether this JSON-RPC message asks for an answer.
inline bool is_request_text(std::string_view message) {
  return find_member(message, "method").has_value() && find_member(message, "id").has_value();
}

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

/// Whether the head says no revision, or one that is known in either era.
bool names_known_version(const RequestHead& head);

/// 400 with the -32022 that names all revisions. REQUIRES: !names_known_version().
HttpResponse unknown_version(const RequestHead& head, const PostedMessages& posted);

/// Whether the head says the revision that has neither sessions nor streams of their own.
bool names_modern_version(const RequestHead& head);

/// Whether it speaks the revision without sessions: a request in it says its revision, or else the
/// head says that one. An `initialize` that does not say it opens a legacy session all the same
/// (MCP 2026-07-28, "Versioning: Backward Compatibility").
bool is_modern(const RequestHead& head, const PostedMessages& posted);

/// Why it is refused, under the id of its request: not a single request or notification, head and
/// body that do not agree (MCP 2026-07-28, "Server Validation"; `known` are the tools whose
/// parameters have headers), a revision that is not served, no `_meta`. REQUIRES: is_modern().
std::optional<HttpResponse> modern_fault(const RequestHead& head, const PostedMessages& posted,
                                         const HeadersOfTools& known);

/// The status of a modern response that comes as one body: 404 with -32601, 400 with the errors
/// that MCP itself defines, else 200.
int status_of_answer(std::string_view response);

}  // namespace bridge
