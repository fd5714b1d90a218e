#include "upstream/streamable_http/exchange.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <utility>

#include "jsonrpc/oversized_answer.hpp"
#include "text/json_text.hpp"
#include "upstream/streamable_http/failures.hpp"

namespace bridge {
namespace {

/// How long an answer's stream may go on after the answer.
constexpr std::chrono::seconds drain_time{1};
constexpr std::size_t max_seen_events = 1024;
/// Of an answer that is no success only this much is kept.
constexpr std::size_t max_error_body = 256u << 10;

}  // namespace

struct Exchange::Callbacks {
  static std::size_t header(char* data, std::size_t size, std::size_t count, void* self) {
    auto& exchange = *static_cast<Exchange*>(self);
    exchange.head_.line(std::string_view(data, size * count));
    exchange.clock_.heard(exchange.context_.curl().entered());
    return size * count;
  }

  static std::size_t body(char* data, std::size_t size, std::size_t count, void* self) {
    return static_cast<Exchange*>(self)->take_body(std::string_view(data, size * count));
  }

  // curl would send a request again by itself when a reused connection turns out to be dead.
  // Whether that may be is not curl's to decide, unless no byte of it has left.
  static int before_request(void* self, char*, char*, int, int) {
    auto& exchange = *static_cast<Exchange*>(self);
    const bool again = std::exchange(exchange.reached_, true);
    return again && exchange.has_left() ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
  }
};

Exchange::Exchange(HttpContext& context, ExchangeOwner& owner, Outgoing message)
    : context_(context), owner_(owner), message_(std::move(message)), share_(context.budget()) {}

Exchange::~Exchange() { release_handle(); }

void Exchange::release_handle() {
  if (!handle_) return;
  if (std::exchange(running_, false)) context_.curl().remove(handle_.get(), *this);
  if (redirection_.is_elsewhere()) {
    handle_.reset();
  } else {
    context_.give_back(std::move(handle_));
  }
}

void Exchange::start() {
  clock_.start(context_.now());
  share_.set(message_.body.size());
  begin_post();
}

void Exchange::begin_post() {
  handle_ = context_.take_handle();
  headers_ = context_.post_headers();
  carried_session_ = !context_.session_id().empty();
  session_generation_ = context_.session_generation();
  token_generation_ = context_.token_generation();
  CURL* const h = handle_.get();
  prepare_handle();
  curl_easy_setopt(h, CURLOPT_POST, 1L);
  curl_easy_setopt(h, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(message_.body.size()));
  curl_easy_setopt(h, CURLOPT_POSTFIELDS, message_.body.data());
  curl_easy_setopt(h, CURLOPT_HTTPHEADER, headers_.get());
  curl_easy_setopt(h, CURLOPT_MAXAGE_CONN,
                   message_.may_repeat ? 118L : static_cast<long>(context_.max_idle().count()));
  set_receivers(h, &Callbacks::header, &Callbacks::body, this);
  curl_easy_setopt(h, CURLOPT_PREREQFUNCTION, &Callbacks::before_request);
  curl_easy_setopt(h, CURLOPT_PREREQDATA, this);
  running_ = true;
  context_.counts().sent_bytes += message_.body.size();
  context_.curl().add(h, *this);
}

/// Whether a byte of the request under way may have left. Over HTTP/2 it may have as soon as there
/// is a connection: curl does not count the bytes there, nor does it tell what the server's GOAWAY
/// left out.
bool Exchange::has_left() const {
  if (!reached_ || context_.options().http2) return reached_;
  long bytes = 0;
  curl_easy_getinfo(handle_.get(), CURLINFO_REQUEST_SIZE, &bytes);
  return bytes > 0;
}

void Exchange::prepare_handle() {
  error_text_[0] = '\0';
  curl_easy_setopt(handle_.get(), CURLOPT_ERRORBUFFER, error_text_.data());
  redirection_.apply(handle_.get());
}

void Exchange::pause(bool paused) {
  const auto now = context_.now();
  if (paused) {
    clock_.pause(now);
  } else {
    clock_.go_on(now);
  }
  if (running_) context_.curl().pause(handle_.get(), paused);
}

void Exchange::settle() {
  settled_ = true;
  if (!ended_) drain_until_ = context_.now() + drain_time;
  if (!running_ && !ended_) end(std::nullopt);
}

std::size_t Exchange::take_body(std::string_view bytes) {
  clock_.heard(context_.curl().entered());
  context_.counts().received_bytes += bytes.size();
  if (!std::exchange(body_begun_, true)) head_complete();
  if (failed_in_callback_) {
    took_bytes();
    return 0;
  }
  const std::size_t limit = head_.is_success() ? context_.options().max_frame : max_error_body;
  if (parser_ && head_.is_success()) {  // what refuses a resumption is no part of the stream
    parser_->feed(bytes, *this);
  } else if (body_.size() + bytes.size() <= limit) {
    body_.append(bytes);
  } else if (head_.is_success()) {
    failed_in_callback_ = answer_too_large(limit);
  }
  share_.set(accumulated() + message_.body.size());
  took_bytes();
  return failed_in_callback_ ? 0 : bytes.size();
}

// With all buffers full its owner looks at what is accumulating.
void Exchange::took_bytes() {
  if (!messages_.empty() || failed_in_callback_ || context_.budget().over())
    context_.curl().mark_ready(*this);
}

/// Whether the session would have an id that cannot be sent.
bool Exchange::names_unusable_session() const {
  const bool is_adopted = message_.opens_session || context_.session_id().empty();
  return is_adopted && !head_.session_id.empty() &&
         !fits_header(head_.session_id, header_limit::session_id);
}

// The body begins: what is it? From here on the request's own bytes are not needed any more, if it
// was accepted.
void Exchange::head_complete() {
  if (!head_.is_success()) return;
  answer_begun_ = true;
  if (names_unusable_session()) {
    failed_in_callback_ = definitive_failure_of(
        ErrorKind::malformed,
        "the upstream's Mcp-Session-Id cannot stand in a header: not all of it is visible ASCII, or "
        "it is over 1024 bytes");
    return;
  }
  curl_off_t uploaded = 0;
  curl_easy_getinfo(handle_.get(), CURLINFO_SIZE_UPLOAD_T, &uploaded);
  const bool is_kept = message_.may_repeat && context_.answers_elsewhere();
  if (uploaded == static_cast<curl_off_t>(message_.body.size()) && !is_kept)
    std::string().swap(message_.body);
  if (head_.is_event_stream()) {
    if (!parser_) parser_ = std::make_unique<SseParser>(context_.options().max_frame);
  } else if (head_.content_length) {
    body_.reserve(std::min(*head_.content_length, context_.options().max_frame) + 64);
  }
}

/// False if it was seen before: a replay.
bool Exchange::remember_event(const std::string& event_id) {
  if (!seen_event_set_.insert(event_id).second) return false;
  seen_events_.push_back(event_id);
  if (seen_events_.size() > max_seen_events) {
    seen_event_set_.erase(seen_events_.front());
    seen_events_.pop_front();
  }
  return true;
}

void Exchange::on_event(std::string, std::string data) {
  const bool replayed = parser_->event_had_id() && !remember_event(parser_->last_event_id());
  if (replayed && resuming_) return;
  resumptions_failed_ = 0;
  if (data.empty() || data == "{}") return;
  make_single_line(data);
  something_came_ = true;
  messages_.push_back(std::move(data));
}

void Exchange::on_retry(std::chrono::milliseconds delay) {
  retry_ = std::min<std::chrono::milliseconds>(delay, std::chrono::hours(1));
}

void Exchange::on_oversized_event() {
  Failure failure;
  failure.kind = ErrorKind::too_large;
  failure.message =
      fmt::format("an event of the upstream's answer is over the limit of {} bytes (--max-frame)",
                  context_.options().max_frame);
  failed_in_callback_ = std::move(failure);
}

void Exchange::transfer_progressed(bool done, int result) {
  if (done) {
    running_ = false;
    transfer_done(result);
  } else if (failed_in_callback_ && !settled_) {
    fail(std::move(*failed_in_callback_));
  }
  owner_.exchange_progressed(message_.id);  // may destroy this
}

void Exchange::begin_resume() {
  resume_at_.reset();
  resuming_ = true;
  redirection_.begin_request();
  begin_get();
}

void Exchange::begin_get() {
  if (session_generation_ != context_.session_generation()) {
    Failure failure;
    failure.kind = ErrorKind::closed;
    failure.message =
        "the session was lost before the answer could be continued or came on another stream";
    end(std::move(failure));
    return;
  }
  token_generation_ = context_.token_generation();
  auto parser = std::make_unique<SseParser>(context_.options().max_frame);
  parser->set_last_event_id(parser_->last_event_id());
  parser_ = std::move(parser);
  body_.clear();
  head_ = ResponseHead{};
  body_begun_ = false;
  handle_ = context_.take_handle();
  headers_ = context_.stream_headers(parser_->last_event_id());
  CURL* const h = handle_.get();
  prepare_handle();
  set_get(h, headers_);
  curl_easy_setopt(h, CURLOPT_MAXAGE_CONN, 118L);
  set_receivers(h, &Callbacks::header, &Callbacks::body, this);
  running_ = true;
  context_.curl().add(h, *this);
}

void Exchange::end(std::optional<Failure> failure) {
  release_handle();
  ended_ = true;
  resume_at_.reset();
  failure_ = std::move(failure);
  share_.set(0);
}

void Exchange::fail(Failure failure) {
  if (!ended_) end(std::move(failure));
}

std::optional<std::string> Exchange::next_message() {
  if (messages_.empty()) return std::nullopt;
  std::string message = std::move(messages_.front());
  messages_.pop_front();
  return message;
}

}  // namespace bridge
