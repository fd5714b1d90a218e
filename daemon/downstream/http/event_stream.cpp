#include "downstream/http/event_stream.hpp"

#include <algorithm>

#include "http/sse_parser.hpp"

namespace bridge {
namespace {

/// A reader that takes nothing for so long is none.
constexpr std::chrono::seconds stuck_time{5};

}  // namespace

EventStream::EventStream(FaceContext& context, HttpConnection& connection, Headers headers)
    : context_(context), connection_(connection) {
  HttpResponse response{200, "text/event-stream", {}, std::move(headers)};
  // no-transform: a proxy that compresses would hold events back. X-Accel-Buffering: nginx would.
  response.headers.emplace_back("Cache-Control", "no-cache, no-transform");
  response.headers.emplace_back("X-Accel-Buffering", "no");
  connection_.begin_stream(response);
  context_.streams.insert(this);
  comment("open");
  last_event_ = last_sent_;
  context_.sweep_by(last_sent_ + context_.options.keepalive);
  if (const auto end = quiet_end()) context_.sweep_by(*end);
}

EventStream::~EventStream() { context_.streams.erase(this); }

void EventStream::send(std::string_view event) {
  write(event);
  last_event_ = last_sent_;
}

void EventStream::write(std::string_view event) {
  const bool behind = connection_.unsent() > 0;
  connection_.write_stream(event);
  last_sent_ = context_.loop.now();
  // What is unsent only because the turn has not ended says nothing of the reader.
  overrun_ =
      behind && connection_.is_blocked() && connection_.unsent() > context_.options.stream_buffer;
}

bool EventStream::is_stuck(std::size_t queued) {
  if (!overrun_ && !(connection_.is_blocked() && queued > context_.options.stream_buffer))
    return false;
  const auto timeout = std::min<std::chrono::milliseconds>(stuck_time, context_.options.stall);
  if (connection_.is_blocked_for(timeout)) return true;
  const SteadyTime since =
      connection_.is_blocked() ? connection_.last_written() : context_.loop.now();
  context_.sweep_by(since + timeout);
  return connection_.unsent() > 2 * context_.options.client_buffer + context_.options.max_frame;
}

void EventStream::comment(std::string_view text) { write(sse_comment(text)); }

std::optional<SteadyTime> EventStream::quiet_end() const {
  const auto idle = context_.options.sse_idle;
  return idle.count() > 0 ? std::optional(last_event_ + idle) : std::nullopt;
}

void EventStream::end() { connection_.end_stream(); }

}  // namespace bridge
