#include "downstream/http/modern_post.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "downstream/http/fan_out.hpp"
#include "downstream/http/modern_rules.hpp"
#include "downstream/http/pending_post.hpp"
#include "http/sse_event.hpp"
#include "jsonrpc/reply.hpp"

namespace bridge {
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
