#include "upstream/streamable_http/get_stream.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <utility>

#include "jsonrpc/oversized_answer.hpp"
#include "text/json_text.hpp"
#include "upstream/streamable_http/failures.hpp"

namespace bridge {
namespace {

/// A stream that lived this long was a good one.
constexpr std::chrono::seconds good_life{30};
/// Never more than two openings a second, also as the server sees them arrive.
constexpr std::chrono::milliseconds between_openings{525};
constexpr std::chrono::seconds longest_retry_after{300};
constexpr std::size_t max_refusal = 64u << 10;

}  // namespace

struct UpstreamGetStream::Callbacks {
  static std::size_t header(char* data, std::size_t size, std::size_t count, void* self) {
    auto& stream = *static_cast<UpstreamGetStream*>(self);
    const std::string_view line(data, size * count);
    if (stream.head_.line(line)) stream.head_complete();
    return size * count;
  }

  static std::size_t body(char* data, std::size_t size, std::size_t count, void* self) {
    auto& stream = *static_cast<UpstreamGetStream*>(self);
    const std::string_view bytes(data, size * count);
    stream.context_.counts().received_bytes += bytes.size();
    if (stream.state_ == ServerStream::open) {
      stream.parser_.feed(bytes, stream);
      if (!stream.messages_.empty() || !stream.oversized_answers_.empty())
        stream.context_.curl().mark_ready(stream);
    } else if (stream.body_.size() + bytes.size() <= max_refusal) {
      stream.body_.append(bytes);
    } else {
      return 0;
    }
    return bytes.size();
  }
};

UpstreamGetStream::UpstreamGetStream(EventLoop& loop, HttpContext& context, GetStreamOwner& owner)
    : context_(context),
      owner_(owner),
      timer_(loop, [this] { connect(); }),
      parser_(context.options().max_frame) {}

UpstreamGetStream::~UpstreamGetStream() { release_handle(); }

void UpstreamGetStream::release_handle() {
  if (!handle_) return;
  if (std::exchange(running_, false)) context_.curl().remove(handle_.get(), *this);
  handle_.reset();  // not given back: its keep-alive settings are its own
}

void UpstreamGetStream::open() {
  close();
  if (!context_.options().server_stream || context_.options().stream_retries == 0) return;
  parser_ = SseParser(context_.options().max_frame);
  was_open_ = false;
  refused_ = false;
  failures_ = 0;
  retry_.reset();
  backoff_.reset();
  state_ = ServerStream::waiting;
  connect();
}

void UpstreamGetStream::reopen() {
  if (state_ != ServerStream::open) return;
  release_handle();
  state_ = ServerStream::waiting;
  connect_later(false);
}

void UpstreamGetStream::close() {
  timer_.clear();
  release_handle();
  messages_.clear();
  oversized_answers_.clear();
  state_ = ServerStream::off;
}

void UpstreamGetStream::hurry() {
  if (state_ != ServerStream::waiting || running_ || !std::exchange(unreachable_, false)) return;
  timer_.set(std::max(context_.now(), connected_at_ + between_openings));
}

void UpstreamGetStream::connect() {
  connected_at_ = context_.now();
  redirection_ = Redirection{};
  begin_get();
}

void UpstreamGetStream::begin_get() {
  had_data_ = false;
  head_ = ResponseHead{};
  body_.clear();
  const std::string last_event_id = parser_.last_event_id();
  parser_ = SseParser(context_.options().max_frame);
  parser_.set_last_event_id(last_event_id);
  token_generation_ = context_.token_generation();
  if (!last_event_id.empty() &&
      !fits_header(last_event_id, header_limit::event_id, Blanks::inside)) {
    context_.log().peer(LogLevel::warning, "unusable event id",
                        "the server stream cannot be resumed, since its event id is too long or "
                        "cannot stand in a header: what came meanwhile may be lost");
  }
  handle_ = context_.take_handle();
  headers_ = context_.stream_headers(last_event_id);
  set_stream(handle_.get(), headers_);
  redirection_.apply(handle_.get());
  set_receivers(handle_.get(), &Callbacks::header, &Callbacks::body, this);
  running_ = true;
  context_.curl().add(handle_.get(), *this);
}

void UpstreamGetStream::head_complete() {
  if (head_.status == 200 && head_.is_event_stream()) {
    state_ = ServerStream::open;
    was_open_ = true;
    ++context_.counts().server_stream_openings;
    context_.curl().mark_ready(*this);
  }
}

void UpstreamGetStream::on_event(std::string, std::string data) {
  if (data.empty()) return;
  had_data_ = true;
  if (data == "{}") return;
  make_single_line(data);
  messages_.push_back(std::move(data));
}

void UpstreamGetStream::on_retry(std::chrono::milliseconds delay) {
  retry_ = std::min<std::chrono::milliseconds>(delay, std::chrono::hours(1));
}

void UpstreamGetStream::on_oversized_event() {
  ++oversized_;
  context_.log().peer(
      LogLevel::warning, "oversized event",
      "an event on the server stream was over --max-frame and was skipped ({} so far)", oversized_);
}

void UpstreamGetStream::on_oversized_event_end(std::string_view beginning, std::string_view end) {
  if (const auto id = id_of_oversized_answer(beginning, end))
    oversized_answers_.push_back(static_cast<UpstreamId>(*id));
}

std::optional<UpstreamId> UpstreamGetStream::next_oversized_answer() {
  if (oversized_answers_.empty()) return std::nullopt;
  const UpstreamId id = oversized_answers_.front();
  oversized_answers_.pop_front();
  return id;
}

std::optional<std::string> UpstreamGetStream::next_message() {
  if (messages_.empty()) return std::nullopt;
  std::string message = std::move(messages_.front());
  messages_.pop_front();
  return message;
}

void UpstreamGetStream::transfer_progressed(bool done, int result) {
  if (done) {
    running_ = false;
    ended(result);
  }
  owner_.stream_progressed();
}

void UpstreamGetStream::ended(int result) {
  context_.counts().connections += connections_opened(handle_.get());
  curl_off_t begun = 0;
  curl_easy_getinfo(handle_.get(), CURLINFO_PRETRANSFER_TIME_T, &begun);
  unreachable_ = result != CURLE_OK && begun == 0;
  release_handle();
  const bool opened = state_ == ServerStream::open;
  const bool answered = result == CURLE_OK && head_.complete;
  if (!opened && answered && redirection_.follow(context_.post_url(), head_)) {
    begin_get();
    return;
  }
  refused_ = !opened && answered;
  if (refused_ && head_.status >= 400 && head_.status < 500) {
    refused();
    return;
  }
  if (!was_open_ && answered && head_.status == 200) {
    state_ = ServerStream::none;
    if (!std::exchange(said_none_, true)) {
      context_.log().event(
          LogLevel::info, "no server stream",
          "the upstream answers the server stream with content type '{}': not used",
          printable(head_.content_type, 80));
    }
    return;
  }
  const bool good = opened && (had_data_ || context_.now() - connected_at_ >= good_life);
  if (good) {
    backoff_.reset();
    failures_ = 0;
  }
  context_.log().peer(LogLevel::debug, "server stream ended",
                      "the server stream ended ({}), opening it again",
                      opened ? std::string("after it was open") : std::string("not opened"));
  connect_later(!good);
}

void UpstreamGetStream::refused() {
  const Failure failure = failure_of_status(context_, head_, body_);
  const bool about_session =
      session_verdict(head_, failure, !context_.session_id().empty()) != SessionVerdict::kept;
  // One odd answer to a stream that was open (of a gateway, say) does not end it for good.
  const bool has_none =
      head_.status == 405 || (!was_open_ && (head_.status == 404 || head_.status == 400));
  if (has_none) {
    state_ = ServerStream::none;
    if (!std::exchange(said_none_, true)) {
      context_.log().event(
          LogLevel::info, "no server stream",
          "the upstream has no server stream (HTTP {}): notifications come only with answers",
          head_.status);
    }
    return;
  }
  if (about_session) {
    state_ = ServerStream::waiting;
    owner_.stream_lost_session();
    return;
  }
  if (head_.status == 401 || head_.status == 403) {
    owner_.stream_unauthorized(head_.status, head_.www_authenticate, token_generation_);
  }
  // 401, 403, 409, 429 and what is odd: another time.
  if (head_.retry_after) wait_once_ = std::min(*head_.retry_after, longest_retry_after);
  connect_later(true);
}

void UpstreamGetStream::connect_later(bool failed) {
  state_ = ServerStream::waiting;
  const int bound = context_.options().stream_retries;
  if (failed && ++failures_ >= bound && bound >= 0) {
    state_ = ServerStream::none;
    context_.log().event(
        LogLevel::warning, "server stream given up",
        "the server stream could not be opened in {} tries (--stream-retries): given up", bound);
    return;
  }
  const auto now = context_.now();
  SteadyTime next = now;
  if (retry_) next = now + *retry_;
  if (const auto wait = std::exchange(wait_once_, std::nullopt)) next = std::max(next, now + *wait);
  // The first time at once, then with growing delays.
  if (failed && failures_ > 1) next = std::max(next, now + backoff_.next());
  timer_.set(std::max(next, connected_at_ + between_openings));
}

}  // namespace bridge
