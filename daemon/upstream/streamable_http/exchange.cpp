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
/// Of an answer that is no success only this much is kept.
constexpr std::size_t max_error_body = 256u << 10;
/// A message of more is worth a handle of its own.
constexpr std::size_t large_body = 128u << 10;
/// For how long a connection may have been idle before what only reads.
constexpr long max_idle_to_read = 118;

}  // namespace

Exchange::Exchange(HttpContext& context, ExchangeOwner& owner, Outgoing&& message)
    : context_(context),
      owner_(owner),
      message_(std::move(message)),
      share_(context.budget()),
      transfer_(context.curl(), *this) {}

void Exchange::close_transfer() {
  if (transfer_.handle() == nullptr) return;
  CurlHandle handle = transfer_.close();
  if (std::exchange(has_large_upload_, false)) return;
  if (is_endless()) clear_tcp_keep_alive(handle.get());
  context_.handles().give_back(std::move(handle));
}

void Exchange::close() {
  phase_ = Phase::over;
  messages_.clear();
  untold_ = 0;
  close_transfer();
}

void Exchange::start() {
  clock_.start(context_.curl().loop().round_began());
  share_.set(message_.body.size());
  if (message_.resumes_after.empty()) {
    begin_post();
    return;
  }
  parser_ = std::make_unique<SseParser>(context_.options().max_frame);
  parser_->set_last_event_id(message_.resumes_after);
  last_event_ = message_.resumes_after;
  begin_get();
}

std::string_view Exchange::last_event() const {
  if (!parser_ || has_messages() || !is_stateful() || has_unusable_event_id()) return {};
  return parser_->last_event_id();
}

// curl would send a request again by itself when a reused connection turns out to be dead. Whether
// that may be is not curl's to decide, unless no byte of it has left.
int Exchange::before_request(void* self, char*, char*, int, int) {
  auto& exchange = *static_cast<Exchange*>(self);
  const bool again = std::exchange(exchange.reached_, true);
  return again && exchange.has_left() ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

void Exchange::begin_post() {
  phase_ = Phase::posting;
  reached_ = false;
  session_is_over_ = false;
  session_named_by_ = context_.session_named_by(is_stateful());
  token_generation_ = context_.token().generation();
  has_large_upload_ = message_.body.size() > large_body;
  CURL* const h =
      transfer_.prepare(has_large_upload_ ? context_.handles().make() : context_.handles().take(),
                        with_lines(message_.headers, context_.post_headers(message_)));
  if (has_large_upload_) set_large_upload(h);
  curl_easy_setopt(h, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(message_.body.size()));
  curl_easy_setopt(h, CURLOPT_POSTFIELDS, message_.body.data());  // makes it a POST
  curl_easy_setopt(
      h, CURLOPT_MAXAGE_CONN,
      message_.may_repeat ? max_idle_to_read : static_cast<long>(context_.max_idle().count()));
  curl_easy_setopt(h, CURLOPT_PREREQFUNCTION, &before_request);
  curl_easy_setopt(h, CURLOPT_PREREQDATA, this);
  if (is_endless()) set_tcp_keep_alive(h);
  context_.counts().sent_bytes += message_.body.size();
  transfer_.start();
}

/// Goes on where the answer's stream broke.
void Exchange::begin_get() {
  phase_ = Phase::continuing;
  token_generation_ = context_.token().generation();
  auto parser = std::make_unique<SseParser>(context_.options().max_frame);
  parser->set_last_event_id(parser_->last_event_id());
  parser_ = std::move(parser);
  CURL* const h = transfer_.prepare(context_.handles().take(),
                                    context_.stream_headers(parser_->last_event_id()));
  set_get(h);
  curl_easy_setopt(h, CURLOPT_MAXAGE_CONN, max_idle_to_read);
  transfer_.start();
}

/// Whether a byte of the POST under way may have left. Over HTTP/2 it may have as soon as there is
/// a connection: curl does not count the bytes there, nor does it tell what the server's GOAWAY
/// left out.
bool Exchange::has_left() const {
  if (!reached_ || context_.options().http2) return reached_;
  long bytes = 0;
  curl_easy_getinfo(transfer_.handle(), CURLINFO_REQUEST_SIZE, &bytes);
  return bytes > 0;
}

void Exchange::pause(bool paused) {
  const auto now = context_.now();
  if (paused) {
    clock_.pause(now);
  } else {
    clock_.go_on(now);
  }
  transfer_.pause(paused);
}

void Exchange::settle() {
  if (transfer_.is_running()) {
    phase_ = Phase::draining;
    due_ = context_.now() + drain_time;
  } else if (phase_ == Phase::ended) {
    phase_ = Phase::over;
  } else {
    phase_ = Phase::draining;
    end();
  }
}

void Exchange::head_line_received(bool) { clock_.heard(context_.curl().entered()); }

/// Whether the session would have an id that cannot be sent.
bool Exchange::is_unusable_session() const {
  const bool is_adopted = message_.opens_session || context_.session_id().empty();
  return is_adopted && !head().session_id.empty() && may_name_session() &&
         !fits_header(head().session_id, header_limit::session_id);
}

void Exchange::body_begins() {
  if (!head().is_success()) return;
  if (phase_ == Phase::posting) phase_ = Phase::answering;
  if (is_unusable_session()) {
    fail_in_callback(definitive_failure_of(
        ErrorKind::malformed,
        "the upstream's Mcp-Session-Id cannot stand in a header: not all of it is visible ASCII, or "
        "it is over 1024 bytes"));
  } else if (head().is_event_stream()) {
    if (!parser_) parser_ = std::make_unique<SseParser>(context_.options().max_frame);
  } else if (head().content_length) {
    transfer_.expect_body(std::min(*head().content_length, context_.options().max_frame));
  }
}

bool Exchange::body_received(std::string_view bytes) {
  clock_.heard(context_.curl().entered());
  context_.counts().received_bytes += bytes.size();
  const std::size_t limit = head().is_success() ? context_.options().max_frame : max_error_body;
  if (failed_in_callback_) {
    transfer_.mark_ready();
    return false;
  }
  if (parser_ && head().is_success()) {  // what refuses a continuation is no part of the stream
    parser_->feed(bytes, *this);
  } else if (!transfer_.keep_body(bytes, limit) && head().is_success()) {
    fail_in_callback(answer_too_large(limit));
  }
  const bool full = context_.budget().over();
  if (full) forget_body();
  share_.set(accumulated() + message_.body.size());
  // With all buffers full its owner looks at what is accumulating.
  if (!messages_.empty() || failed_in_callback_ || full) transfer_.mark_ready();
  return !failed_in_callback_;
}

/// Frees the message's body, but not while curl sends it, nor if it may have to be sent again
/// because its answer is awaited on another stream.
void Exchange::forget_body() {
  if (message_.body.empty() || phase_ == Phase::posting) return;
  if (message_.may_repeat && (context_.answers_elsewhere() || !is_stateful())) return;
  if (phase_ != Phase::continuing) {
    curl_off_t uploaded = 0;
    curl_easy_getinfo(transfer_.handle(), CURLINFO_SIZE_UPLOAD_T, &uploaded);
    if (uploaded != static_cast<curl_off_t>(message_.body.size())) return;
  }
  std::string().swap(message_.body);
}

void Exchange::add_message(ReceivedText&& message, std::string&& event_before) {
  make_single_line(message);
  something_came_ = true;
  untold_ += message.bytes.size();
  messages_.emplace_back(std::move(message), std::move(event_before));
}

void Exchange::on_event(std::string, ReceivedText data) {
  std::string before = std::exchange(last_event_, parser_->last_event_id());
  const bool is_news =
      continuation_.is_news(parser_->event_had_id() ? &parser_->last_event_id() : nullptr);
  if (!is_news || data.bytes.empty() || data.bytes == "{}") return;
  forget_body();
  add_message(std::move(data), std::move(before));
}

void Exchange::on_retry(std::chrono::milliseconds delay) { continuation_.set_retry(delay); }

void Exchange::on_oversized_event() {
  fail_in_callback(failure_of(
      ErrorKind::too_large, Delivered::unknown,
      fmt::format("an event of the upstream's answer is over the limit of {} bytes (--max-frame)",
                  context_.options().max_frame)));
}

void Exchange::transfer_progressed(bool done, int result) {
  if (done) {
    transfer_done(result);
  } else if (failed_in_callback_ && !is_settled()) {
    fail(std::move(*failed_in_callback_));
  }
  owner_.exchange_progressed(message_.id);
}

std::optional<ReceivedText> Exchange::next_message() {
  if (messages_.empty()) {
    if (!clock_.is_paused()) transfer_.go_on();
    return std::nullopt;
  }
  StreamMessage& first = messages_.front();
  untold_ -= first.text.bytes.size();
  event_before_ = std::move(first.event_before);
  std::optional<ReceivedText> message(std::move(first.text));
  messages_.pop_front();
  return message;
}

}  // namespace bridge
