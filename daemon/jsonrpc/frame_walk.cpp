// Which of the members that were met a message of its kind may carry.
#include "jsonrpc/frame_walk.hpp"

namespace bridge {

using namespace std::string_view_literals;
namespace {

bool is_string_or_number(std::string_view value) {
  const char c = value.empty() ? '\0' : value.front();
  return c == '"' || c == '-' || (c >= '0' && c <= '9');
}

}  // namespace

void FrameWalk::keep_if_it_names(Slice& slice) const {
  if (!is_string_or_number(frame_.text(slice))) slice = {};
}

const char* FrameWalk::finish() {
  if (top_twice_) return "Invalid Request: a member stands twice";
  return method_.present() ? finish_call() : finish_response();
}

const char* FrameWalk::finish_call() {
  const std::string_view method = frame_.text(method_);
  if (!is_string(method)) return "Invalid Request: method is no string";
  if (frame_.result.present() || frame_.error.present()) {
    return "Invalid Request: both method and result or error";
  }
  if (frame_.id.present() && !is_string_or_number(frame_.text(frame_.id)))
    return "Invalid Request: id is no string and no number";
  if (meta_twice_) return "Invalid Request: a member of _meta stands twice";
  frame_.kind = frame_.id.present() ? FrameKind::request : FrameKind::notification;
  frame_.method = unescape(method.substr(1, method.size() - 2));
  if (!is_string(frame_.text(frame_.protocol_version))) frame_.protocol_version = {};
  if (frame_.is_request()) {
    keep_if_it_names(frame_.progress_token);
    frame_.request_id = frame_.subscription_id = {};
    return nullptr;
  }
  keep_if_it_names(frame_.subscription_id);
  frame_.progress_token = {};
  if (frame_.method == "notifications/progress"sv) {
    if (progress_token_twice_) return "Invalid Request: progressToken stands twice";
    frame_.progress_token = params_progress_token_;
    keep_if_it_names(frame_.progress_token);
  }
  if (frame_.method != "notifications/cancelled"sv) {
    frame_.request_id = {};
    return nullptr;
  }
  if (request_id_twice_) return "Invalid Request: requestId stands twice";
  keep_if_it_names(frame_.request_id);
  return nullptr;
}

const char* FrameWalk::finish_response() {
  if (!frame_.id.present()) return "Invalid Request: neither method nor id";
  if (frame_.result.present() == frame_.error.present()) {
    return "Invalid Request: not exactly one of method, result and error";
  }
  frame_.kind = FrameKind::response;
  if (result_type_twice_) return "Invalid Request: resultType stands twice";
  if (frame_.params.present()) {
    frame_.meta = frame_.progress_token = frame_.request_id = {};
    frame_.protocol_version = frame_.subscription_id = {};
    frame_.reserved = {};
  }
  const std::string_view id = frame_.text(frame_.id);
  if (is_string_or_number(id)) return nullptr;
  frame_.id_is_null = id == "null" && frame_.error.present();
  return frame_.id_is_null ? nullptr : "Invalid Request: id is no string and no number";
}

}  // namespace bridge
