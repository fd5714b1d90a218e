#include "downstream/http/posted_messages.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "http/server/http_connection.hpp"
#include "json/json_object.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "mcp/handshake.hpp"
#include "mcp/methods.hpp"
#include "mcp/mirrored_headers.hpp"
#include "mcp/request_meta.hpp"

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

HttpResponse overloaded_response() { return refuse_for_now(overloaded_reason, "1"); }

std::string answer_body(std::vector<std::string>&& answers, bool is_batch) {
  if (!is_batch) return answers.empty() ? std::string() : std::move(answers.front());
  JsonArray body;
  for (std::string& answer : answers) {
    body.add(RawJson{answer});
    std::string().swap(answer);  // not all of them twice
  }
  return body.text();
}

std::string accepted_body(const std::vector<std::string>& raw_ids) {
  return JsonObject()
      .add("accepted", RawJson{answer_body(std::vector<std::string>(raw_ids), true)})
      .text();
}

std::string cancellation_of(std::string_view raw_id) {
  return own_notification(
      "notifications/cancelled",
      JsonObject().add("requestId", RawJson{raw_id}).add("reason", "timeout").text());
}

namespace {

constexpr FrameFault null_id{json_rpc::invalid_request, "Invalid Request: id is null"};

/// Adds one message; returns the fault if it is not one.
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
    return FrameFault{json_rpc::invalid_request, reason};  // it has no id for the response
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

namespace {

constexpr std::string_view version_header = "mcp-protocol-version";
/// Bytes of an unknown revision that the error repeats.
constexpr std::size_t longest_version = 64;

HttpResponse refuse(std::string_view raw_id, int code, std::string_view message) {
  return json_response(400, error_reply(raw_id, code, message));
}

HttpResponse refuse_version(std::string_view raw_id, std::string_view version, Era era) {
  const std::string error =
      unsupported_version_error(quote(printable(version, longest_version)), era);
  return json_response(
      400, json_rpc_message().add("id", RawJson{raw_id}).add("error", RawJson{error}).text());
}

std::string id_of(const PostedMessages& posted) {
  return posted.is_batch || posted.request_ids.empty() ? "null" : posted.request_ids.front();
}

std::vector<HeaderField> fields_of(const RequestHead& head) {
  std::vector<HeaderField> fields;
  fields.reserve(head.headers.size());
  for (const HttpHeader& header : head.headers) fields.push_back({header.name, header.value});
  return fields;
}

std::optional<HttpResponse> request_fault(const RequestHead& head, const Frame& request,
                                          const HeadersOfTools& known) {
  const std::string_view id = request.text(request.id);
  const std::string version =
      find_string(request.text(request.meta), meta_key::protocol_version).value_or(std::string());
  const bool says_version = request.protocol_version.present();
  if (says_version && version != newest_version && head.header(version_header) == version)
    return refuse_version(id, version, Era::modern);
  const char* const missing = missing_request_meta(request);
  if (!says_version) return refuse(id, json_rpc::invalid_params, missing);
  if (const auto mismatch = check_mirrored(fields_of(head), request, known))
    return refuse(id, mcp_error::header_mismatch, *mismatch);
  if (missing != nullptr) return refuse(id, json_rpc::invalid_params, missing);
  return std::nullopt;
}

}  // namespace

bool names_known_version(const RequestHead& head) {
  const std::string version = head.header(version_header);
  return version.empty() || version == newest_version || is_known_legacy_version(version);
}

HttpResponse unknown_version(const RequestHead& head, const PostedMessages& posted) {
  return refuse_version(id_of(posted), head.header(version_header), Era::legacy);
}

bool names_modern_version(const RequestHead& head) {
  return head.header(version_header) == newest_version;
}

bool is_modern(const RequestHead& head, const PostedMessages& posted) {
  const bool says_so = std::any_of(posted.messages.begin(), posted.messages.end(),
                                   [](const Frame& message) { return message.is_modern(); });
  return says_so || (names_modern_version(head) && !posted.initializes);
}

std::optional<HttpResponse> modern_fault(const RequestHead& head, const PostedMessages& posted,
                                         const HeadersOfTools& known) {
  if (posted.is_batch)
    return refuse("null", json_rpc::invalid_request,
                  "Invalid Request: MCP 2026-07-28 has no arrays of messages");
  const Frame& message = posted.messages.front();
  if (message.is_response())
    return refuse("null", json_rpc::invalid_request,
                  "Invalid Request: a client of MCP 2026-07-28 sends no responses");
  return message.is_request() ? request_fault(head, message, known) : std::nullopt;
}

int status_of_answer(std::string_view response) {
  const auto error = find_member(response, "error");
  if (!error) return 200;
  const std::string_view code = find_member(*error, "code").value_or("");
  const auto is = [code](int number) { return code == std::to_string(number); };
  if (is(json_rpc::method_not_found)) return 404;
  const bool is_defined = is(mcp_error::header_mismatch) ||
                          is(mcp_error::missing_client_capability) ||
                          is(mcp_error::unsupported_version);
  return is_defined ? 400 : 200;
}

}  // namespace bridge
