#include "downstream/http/posted_messages.hpp"

#include <optional>
#include <utility>

#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "mcp/methods.hpp"

namespace bridge {
namespace {

HttpResponse refuse_for_now(std::string_view reason, const char* seconds) {
  HttpResponse response = error_response(503, json_rpc::bridge_error, reason);
  response.headers.emplace_back("Retry-After", seconds);
  return response;
}

}  // namespace

HttpResponse error_response(int status, int code, std::string_view message) {
  return json_response(status, error_reply("null", code, message));
}

HttpResponse session_not_found() {
  return error_response(404, json_rpc::http_error, "Session not found");
}

HttpResponse no_stream_wanted() {
  return error_response(406, json_rpc::bridge_error,
                        "Not Acceptable: Accept must allow text/event-stream");
}

HttpResponse full_response(std::string_view what) { return refuse_for_now(what, "5"); }

HttpResponse overloaded_response() {
  return refuse_for_now("overloaded: too much is buffered (--max-buffered)", "1");
}

namespace {

constexpr FrameFault null_id{json_rpc::invalid_request, "Invalid Request: id is null"};

/// Adds one message; its fault if it is none.
std::optional<FrameFault> add_message(PostedMessages& posted, ParsedFrame&& parsed) {
  if (const auto* fault = std::get_if<FrameFault>(&parsed)) return *fault;
  Frame& frame = std::get<Frame>(parsed);
  if (frame.id_is_null) return null_id;
  if (frame.is_request()) {
    std::string id(frame.text(frame.id));
    if (posted.ids.contains(id))
      return FrameFault{json_rpc::invalid_request, "Invalid Request: two requests of the same id"};
    const bool initializes = frame.method == "initialize";
    if (initializes && posted.is_batch) {
      return FrameFault{json_rpc::invalid_request,
                        "Invalid Request: initialize must not be in an array"};
    }
    posted.initializes = initializes;
    posted.ids.insert(id);
    posted.request_ids.push_back(std::move(id));
  } else if (const char* reason = wrong_kind(frame)) {
    return FrameFault{json_rpc::invalid_request, reason};  // it has no id to be answered under
  }
  posted.messages.push_back(std::move(frame));
  return std::nullopt;
}

}  // namespace

std::variant<PostedMessages, FrameFault> read_posted(ReceivedText body) {
  PostedMessages posted;
  make_single_line(body);
  if (!is_batch(body.bytes)) {
    if (const auto fault = add_message(posted, parse_received(std::move(body)))) return *fault;
    return posted;
  }
  posted.is_batch = true;
  auto batch = parse_batch(body.bytes);
  if (const auto* fault = std::get_if<FrameFault>(&batch)) return *fault;
  auto& all = std::get<0>(batch);
  if (all.size() > PostedMessages::max_messages) {
    return FrameFault{json_rpc::invalid_request,
                      "Invalid Request: more than 1000 messages in an array"};
  }
  for (ParsedFrame& parsed : all) {
    if (const auto fault = add_message(posted, std::move(parsed)))
      posted.faults.push_back(error_reply("null", fault->code, fault->reason));
  }
  return posted;
}

}  // namespace bridge
