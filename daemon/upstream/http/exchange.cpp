#include "upstream/http/exchange.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <utility>

#include "protocol/json_text.hpp"
#include "upstream/http/failures.hpp"

namespace bridge {
namespace {

/// How long an answer's stream may go on after the answer.
constexpr std::chrono::seconds drain_time{1};
/// How long a notification may take before the next frame of its client goes.
constexpr std::chrono::seconds notification_time{30};
constexpr int max_redirects = 5;
/// A server that asks for no delay at all is not asked in a loop.
constexpr std::chrono::milliseconds shortest_retry{100};
constexpr std::size_t max_seen_events = 1024;
/// Of an answer that is no success only this much is kept.
constexpr std::size_t max_error_body = 256u << 10;

}  // namespace

struct Exchange::Callbacks {
  static std::size_t header(char* data, std::size_t size, std::size_t count, void* self) {
    auto& exchange = *static_cast<Exchange*>(self);
    exchange.head_.line(std::string_view(data, size * count));
    exchange.last_byte_ = exchange.context_.curl().entered();
    return size * count;
  }

  static std::size_t body(char* data, std::size_t size, std::size_t count, void* self) {
    return static_cast<Exchange*>(self)->take_body(std::string_view(data, size * count));
  }

  // curl would send a request again by itself when a reused connection turns out to be dead. Whether
  // that may be is not curl's to decide, unless no byte of it has left.
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
  context_.goaways().forget(handle_.get());
  // One that was sent elsewhere knows another URL than the rest.
  if (url_.empty()) {
    context_.give_back(std::move(handle_));
  } else {
    handle_.reset();
  }
}

void Exchange::start() {
  started_ = last_byte_ = std::chrono::steady_clock::now();
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

/// Whether a byte of the request under way may have left.
bool Exchange::has_left() const {
  if (!reached_) return false;
  if (context_.options().http2) return !context_.goaways().left_out(handle_.get());  // bytes are not counted there
  long bytes = 0;
  curl_easy_getinfo(handle_.get(), CURLINFO_REQUEST_SIZE, &bytes);
  return bytes > 0;
}

void Exchange::prepare_handle() {
  if (context_.options().http2) context_.goaways().begin(handle_.get());
  error_text_[0] = '\0';
  curl_easy_setopt(handle_.get(), CURLOPT_ERRORBUFFER, error_text_.data());
  if (url_.empty()) return;
  curl_easy_setopt(handle_.get(), CURLOPT_CURLU, nullptr);
  curl_easy_setopt(handle_.get(), CURLOPT_URL, url_.c_str());
}

void Exchange::pause(bool paused) {
  if (running_) context_.curl().pause(handle_.get(), paused);
}

void Exchange::settle() {
  settled_ = true;
  if (!ended_) drain_until_ = std::chrono::steady_clock::now() + drain_time;
  if (!running_ && !ended_) end(std::nullopt);
}

std::size_t Exchange::take_body(std::string_view bytes) {
  last_byte_ = context_.curl().entered();
  context_.counts().received_bytes += bytes.size();
  if (!std::exchange(body_begun_, true)) head_complete();
  const std::size_t limit = head_.is_success() ? context_.options().max_frame : max_error_body;
  if (parser_ && head_.is_success()) {  // what refuses a resumption is no part of the stream
    parser_->feed(bytes, *this);
  } else if (body_.size() + bytes.size() <= limit) {
    body_.append(bytes);
  } else if (head_.is_success()) {
    Failure failure;
    failure.kind = ErrorKind::too_large;
    failure.message = fmt::format("the upstream's answer is over the limit of {} bytes (--max-frame)", limit);
    failed_in_callback_ = std::move(failure);
  }
  share_.set(accumulated() + message_.body.size());
  took_bytes();
  return failed_in_callback_ ? 0 : bytes.size();
}

void Exchange::took_bytes() {
  if (!messages_.empty() || failed_in_callback_) context_.curl().mark_ready(*this);
}

// The body begins: what is it? From here on the request's own bytes are not needed any more, if it
// was accepted.
void Exchange::head_complete() {
  if (!head_.is_success()) return;
  answer_begun_ = true;
  curl_off_t uploaded = 0;
  curl_easy_getinfo(handle_.get(), CURLINFO_SIZE_UPLOAD_T, &uploaded);
  const bool is_kept = message_.may_repeat && context_.answers_elsewhere();
  if (uploaded == static_cast<curl_off_t>(message_.body.size()) && !is_kept) std::string().swap(message_.body);
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
  failure.message = fmt::format("an event of the upstream's answer is over the limit of {} bytes (--max-frame)",
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

void Exchange::transfer_done(int result) {
  context_.counts().connections += connections_opened(handle_.get());
  static_assert(std::tuple_size_v<decltype(error_text_)> >= CURL_ERROR_SIZE);
  if (!resuming_) reached_ = has_left();
  TransferProgress progress{reached_by(handle_.get(), reached_), error_text_.data()};
  if (result == CURLE_OK && !head_.complete) {
    result = CURLE_GOT_NOTHING;
    progress.detail = "its head is not complete";
  }
  // A second attempt of curl's was stopped: the request was sent once.
  if (result == CURLE_ABORTED_BY_CALLBACK) progress.detail = "the server closed it while it was being reused";
  release_handle();
  if (failed_in_callback_ && !settled_) {
    end(std::move(*failed_in_callback_));
    return;
  }
  if (result != CURLE_OK) {
    if (settled_) {
      end(std::nullopt);
    } else if (!try_resume()) {
      end(failure_of_transfer(context_, result, progress));
    }
    return;
  }
  if (follow_redirect()) return;
  if (head_.is_success()) {
    answer_complete();
    return;
  }
  const bool unauthorized = head_.status == 401 || head_.status == 403;
  if (resuming_ && unauthorized && !std::exchange(reauthorized_, true) && owner_.exchange_unauthorized(*this) &&
      try_resume()) {
    return;
  }
  if (resuming_ && (head_.status >= 500 || head_.status == 429 || head_.status == 409) && try_resume()) return;
  Failure failure = failure_of_status(context_, head_, body_);
  verdict_ = session_verdict(head_, failure, carried_session_);
  if (verdict_ == SessionVerdict::lost) failure.delivered = Delivered::no;
  if (answer_begun_) {
    failure.kind = ErrorKind::closed;  // it was a resumption that was refused
    const std::string_view broke = "the answer's stream broke and cannot be resumed: ";
    failure.message.insert(0, broke);
    failure.summary.insert(0, broke);
    failure.status = 0;
    failure.delivered = Delivered::unknown;
    failure.retry_after.reset();
    failure.error_object.clear();
  }
  end(std::move(failure));
}

/// A success: what did its body hold?
void Exchange::answer_complete() {
  const bool is_request = message_.kind == OutgoingKind::request;
  const bool elsewhere = context_.answers_elsewhere();
  if (is_request && !settled_ && !elsewhere && try_resume()) return;
  if (!is_request || (elsewhere ? settled_ : head_.is_event_stream())) {
    end(std::nullopt);
    return;
  }
  const bool blank = body_.find_first_not_of(" \t\r\n") == body_.npos;
  if (elsewhere || (blank && (head_.status == 202 || head_.status == 204 || head_.status == 200))) {
    if (head_.status == 200 && head_.is_json() && !elsewhere) {
      end(std::nullopt);
      return;
    }
    if (message_.opens_session) {
      end(std::nullopt);  // there is no other stream yet
      return;
    }
    awaited_elsewhere_ = true;
    answer_begun_ = true;
    body_ = std::string();
    if (!message_.may_repeat) message_.body = std::string();
    share_.set(message_.body.size());
    return;
  }
  if (!head_.is_json()) {
    Failure failure;
    failure.kind = ErrorKind::malformed;
    failure.message = fmt::format("the upstream answered with content type '{}', not JSON and not an event stream",
                                  printable(head_.content_type, 80));
    end(std::move(failure));
    return;
  }
  something_came_ = true;
  make_single_line(body_);
  messages_.push_back(std::move(body_));
  end(std::nullopt);
}

/// The stream broke or ended before the answer. If it had event ids it is continued by a GET.
bool Exchange::try_resume() {
  if (message_.kind != OutgoingKind::request || !parser_ || parser_->last_event_id().empty()) return false;
  if (session_generation_ != context_.session_generation()) return false;
  auto delay = std::max(retry_, shortest_retry);
  for (int i = 0; i < std::min(resumptions_failed_, 6); ++i) delay *= 2;
  delay = std::min<std::chrono::milliseconds>(delay, std::max(retry_, std::chrono::milliseconds(30000)));
  ++resumptions_failed_;
  resume_at_ = std::chrono::steady_clock::now() + delay;
  return true;
}

void Exchange::session_forgotten() {
  if (resume_at_ || awaited_elsewhere_) resume_at_ = std::chrono::steady_clock::now();
}

void Exchange::begin_resume() {
  resume_at_.reset();
  if (session_generation_ != context_.session_generation()) {
    Failure failure;
    failure.kind = ErrorKind::closed;
    failure.message = "the session was lost before the answer could be continued or came on another stream";
    end(std::move(failure));
    return;
  }
  resuming_ = true;
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

/// 307 and 308 keep the method; only the same origin gets the token (RFC 9110, section 15.4).
bool Exchange::follow_redirect() {
  if (resuming_ || (head_.status != 307 && head_.status != 308) || head_.location.empty() || redirects_ >= max_redirects) {
    return false;
  }
  const std::string& from = url_.empty() ? context_.post_url() : url_;
  const std::string to = same_origin_url(from, head_.location);
  if (to.empty()) return false;
  ++redirects_;
  url_ = to;
  reached_ = false;  // who redirects has not acted
  body_.clear();
  head_ = ResponseHead{};
  body_begun_ = false;
  begin_post();
  return true;
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

Ending Exchange::take_ending() {
  Ending ending;
  ending.failure = std::move(failure_);
  ending.session = verdict_;
  ending.something_came = something_came_;
  if (ending.failure && (!answer_begun_ || (awaited_elsewhere_ && message_.may_repeat))) ending.unanswered = std::move(message_);
  return ending;
}

SteadyTime Exchange::deadline() const {
  if (settled_) return drain_until_.value_or(SteadyTime::max());
  const HttpOptions& options = context_.options();
  SteadyTime due = SteadyTime::max();
  if (message_.kind != OutgoingKind::request) due = started_ + notification_time;
  const SteadyTime heard = awaited_elsewhere_ ? std::max(last_byte_, context_.heard()) : last_byte_;
  if (options.request_timeout.count() > 0) due = std::min(due, heard + options.request_timeout);
  if (options.request_max.count() > 0) due = std::min(due, started_ + options.request_max);
  if (resume_at_) due = std::min(due, *resume_at_);
  return due;
}

void Exchange::check_time(SteadyTime now, SteadyTime& next) {
  if (ended_) return;
  if (resume_at_ && *resume_at_ <= now) begin_resume();
  if (ended_) return;
  const SteadyTime due = deadline();
  if (due > now) {
    next = std::min(next, due);
    return;
  }
  if (settled_) {
    end(std::nullopt);
    return;
  }
  Failure failure;
  failure.kind = ErrorKind::timeout;
  failure.delivered = reached_ ? Delivered::unknown : Delivered::no;
  failure.message =
      message_.kind != OutgoingKind::request ? "the upstream did not accept the message in time"
      : now - started_ >= context_.options().request_max && context_.options().request_max.count() > 0
          ? "the answer took longer than --request-max"
          : "the upstream sent nothing for longer than --request-timeout";
  const bool begun = std::exchange(answer_begun_, true);  // it is not to be sent again
  end(std::move(failure));
  answer_begun_ = begun || reached_;
}

}  // namespace bridge
