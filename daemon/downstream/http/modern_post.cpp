#include "downstream/http/modern_post.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "downstream/http/fan_out.hpp"
#include "downstream/http/pending_post.hpp"
#include "http/sse_parser.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "mcp/handshake.hpp"
#include "mcp/mirrored_headers.hpp"
#include "mcp/request_meta.hpp"

namespace bridge {
namespace {

constexpr std::string_view version_header = "mcp-protocol-version";
/// Of a revision that nobody knows so many bytes are said back.
constexpr std::size_t longest_version = 64;

HttpResponse refuse(std::string_view raw_id, int code, std::string_view message) {
  return json_response(400, error_reply(raw_id, code, message));
}

HttpResponse refuse_version(std::string_view raw_id, std::string_view version, Era era) {
  return json_response(
      400, fmt::format(R"({{"jsonrpc":"2.0","id":{},"error":{}}})", raw_id,
                       unsupported_version_error(quote(printable(version, longest_version)), era)));
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

namespace {

/// So much of the ring is with a listen's connection; the rest stays in the ring.
constexpr std::size_t listen_window = 64u << 10;

}  // namespace

ModernPost::ModernPost(FaceContext& context, HttpConnection& connection, Asked asked,
                       std::string agent)
    : context_(context),
      connection_(&connection),
      asked_(std::move(asked)),
      agent_(std::move(agent)),
      began_(context.loop.now()),
      leaving_(context.loop, [this] { leave(); }) {
  identity_.id = context.ids.next();
  identity_.kind = "http";
  identity_.connected = began_;
  connection.set_responder(this);
  if (const auto time = due()) context_.sweep_by(*time);
}

ModernPost::~ModernPost() {
  if (connection_ != nullptr) connection_->drop();
}

void ModernPost::begin_stream() {
  stream_ = std::make_unique<EventStream>(context_, *connection_, std::move(asked_.headers));
}

void ModernPost::emit(const std::string& message) {
  stream_->send(sse_event({}, {}, message));
  load_changed();
  drop_if_stuck();
}

// An error is said by the status as well, so no stream begins for it.
void ModernPost::answer(std::string_view, std::string frame, AnswerOrder) {
  context_.fan_out->publish_if_all(frame);
  if (connection_ == nullptr) return;
  const int status = stream_ ? 200 : status_of_answer(frame);
  if (!stream_ && status == 200 && asked_.prefers_stream) begin_stream();
  if (stream_) {
    acknowledge_read();
    stream_->send(sse_event({}, {}, frame));
    stream_->end();
    stream_.reset();
  } else {
    HttpResponse response = json_response(status, std::move(frame));
    response.headers = std::move(asked_.headers);
    connection_->respond(std::move(response));
  }
  connection_ = nullptr;
}

void ModernPost::send_about(std::string_view, std::string frame) {
  context_.fan_out->publish_about(frame, false);
  if (connection_ == nullptr || !asked_.takes_streams) return;
  if (!stream_) begin_stream();
  emit(frame);
}

// Subscribers of the fan-out have it from the ring.
void ModernPost::send_entry(std::string_view, std::string frame, Sequence entry) {
  if (connection_ == nullptr) return;
  if (!stream_) begin_stream();
  emit(frame);
  if (connection_ != nullptr) told_.push_back({entry, connection_->position()});
}

/// It was cancelled by this class alone, which has answered it then.
void ModernPost::no_answer(std::string_view) {
  if (connection_ != nullptr) close({}, HttpResponse{202, {}, {}, {}});
}

void ModernPost::acknowledge_read() {
  if (connection_ != nullptr && !told_.empty()) take_told_before(connection_->acknowledged());
}

void ModernPost::take_told_before(std::uint64_t position) {
  while (!told_.empty() && told_.front().end <= position) {
    context_.feed.ring().take(told_.front().entry);
    told_.pop_front();
  }
}

std::size_t ModernPost::queued_bytes() const {
  return connection_ != nullptr ? connection_->unsent() : 0;
}

void ModernPost::load_changed() {
  const std::size_t limit = asked_.listens ? listen_window : context_.options.client_buffer;
  const std::size_t bytes = queued_bytes();
  if (congested_ ? bytes > limit / 2 : bytes <= limit) return;
  congested_ = !congested_;
  context_.events.client_congestion(identity_.id, congested_);
}

void ModernPost::drop_if_stuck() {
  if (!stream_ || !stream_->is_stuck()) return;
  context_.log.peer(LogLevel::warning, "stream dropped", {.client = identity_.id},
                    "the stream of a POST was dropped: it is not read (--http-stream-buffer)");
  give_up();
}

void ModernPost::give_up() {
  ++context_.counts.stalled;
  connection_->drop();
  connection_lost(false);
}

std::optional<SteadyTime> ModernPost::due() const {
  if (connection_ == nullptr || stream_) return std::nullopt;
  return began_ + (asked_.takes_streams
                       ? std::min(context_.options.timeout, context_.options.keepalive)
                       : context_.options.timeout);
}

void ModernPost::sweep(SteadyTime now) {
  drop_if_stuck();
  const auto time = due();
  if (!time || *time > now) return;
  if (asked_.listens || began_ + context_.options.timeout > now) {
    begin_stream();  // so that nobody on the way takes the silence for an end
    return;
  }
  HttpResponse response = json_response(
      504, error_reply(asked_.raw_id, failure_of(ErrorKind::timeout, Delivered::unknown,
                                                 "no answer in time (--http-timeout)")));
  response.headers = std::move(asked_.headers);
  connection_->respond(std::move(response));
  connection_ = nullptr;
  context_.events.client_line(identity_.id, cancellation_of(asked_.raw_id));
}

void ModernPost::close(std::string_view last_comment, const HttpResponse& refusal) {
  if (connection_ == nullptr) return;
  if (stream_) {
    acknowledge_read();
    if (!last_comment.empty()) stream_->comment(last_comment);
    stream_->end();
    stream_.reset();
  } else {
    connection_->respond(refusal);
  }
  connection_ = nullptr;
}

void ModernPost::connection_drained() {
  acknowledge_read();
  load_changed();
}

// Not at once: the router may be writing to it just now.
void ModernPost::connection_lost(bool has_read_all) {
  if (has_read_all) take_told_before(std::numeric_limits<std::uint64_t>::max());
  connection_ = nullptr;
  stream_.reset();
  leaving_.schedule();
}

void ModernPost::leave() {
  context_.events.client_left(identity_.id);
  context_.modern_post_over(*this);
}

void ModernPost::finish() {
  leaving_.cancel();
  context_.modern_post_over(*this);
}

}  // namespace bridge
