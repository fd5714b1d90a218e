#include "upstream/streamable_http/exchange.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "http/client/web_url.hpp"
#include "json/frame.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "upstream/streamable_http/failures.hpp"
#include "upstream/streamable_http/http_upstream.hpp"

namespace bridge {
namespace {

/// How long an answer's stream may continue after the answer.
constexpr std::chrono::seconds drain_time{1};
/// How much of an error response is kept.
constexpr std::size_t max_error_body = 256u << 10;
/// A longer message is not taken for an error about the session.
constexpr std::size_t longest_error = 4u << 10;
/// A larger message gets a handle of its own.
constexpr std::size_t large_body = 128u << 10;
/// The longest idle time of a connection for a request that only reads.
constexpr long max_idle_to_read = 118;

/// Up to so many times ByteBudget::small() the space of a body is reserved as it begins; it takes
/// memory only as it fills.
constexpr std::size_t expected_at_once = 16;

/// The size of a response's body; 0: unknown.
std::size_t announced(const ResponseHead& head, std::size_t most) {
  return head.is_success() ? std::min<std::size_t>(head.content_length.value_or(0), most) : 0;
}

}  // namespace

Exchange::Exchange(HttpContext& context, HttpUpstream& owner, Outgoing&& message)
    : context_(context),
      owner_(owner),
      message_(std::move(message)),
      held_(context.room(), context.budget(), message_.id, context.options().max_frame),
      transfer_(context.curl(), *this) {
  clock_.start_clock(context_.curl().loop().round_began());
  held_.count(0, message_.body.size());
}

void Exchange::close_transfer() {
  if (transfer_.handle() == nullptr) return;
  CurlHandle handle = transfer_.close();
  if (std::exchange(request_.is_large, false)) return;
  context_.handles().give_back(std::move(handle));
}

void Exchange::close() {
  phase_ = Phase::over;
  messages_.clear();
  held_.end();
  close_transfer();
}

void Exchange::resume() {
  begin_stream(message_.resumes_after);
  begin_get();
}

void Exchange::begin_stream(const std::string& last_event_id) {
  stream_ = std::make_unique<AnswerStream>(context_.options().max_frame, last_event_id);
}

std::string_view Exchange::last_event() const {
  if (!stream_ || has_messages() || !is_stateful() || !stream_->can_continue()) return {};
  return stream_->parser.last_event_id();
}

// curl would repeat a request itself when a reused connection turns out to be dead. That is the
// session's decision, unless no byte was sent.
int Exchange::before_request(void* self, char*, char*, int, int) {
  auto& exchange = *static_cast<Exchange*>(self);
  const bool has_left =
      exchange.request_.has_left(exchange.transfer_.handle(), exchange.context_.options().http2);
  exchange.request_.reached = true;
  return has_left ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

/// A message that opens a session is sent outside of the one that there may be.
SessionNamedBy Exchange::named_by() const {
  const SessionNamedBy usual = context_.session_named_by(is_stateful());
  const bool is_outside = message_.opens_session && usual == SessionNamedBy::header;
  return is_outside ? SessionNamedBy::nothing : usual;
}

void Exchange::post() {
  phase_ = Phase::posting;
  session_is_over_ = false;
  request_ = {.token_generation = context_.token().generation(),
              .session_named_by = named_by(),
              .is_large = message_.body.size() > large_body};
  CURL* const h = transfer_.prepare(
      request_.is_large ? context_.handles().make() : context_.handles().take_handle(),
      with_lines(message_.headers, context_.post_headers(message_)));
  if (request_.is_large) set_large_upload(h);
  curl_easy_setopt(h, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(message_.body.size()));
  curl_easy_setopt(h, CURLOPT_POSTFIELDS, message_.body.data());  // makes it a POST
  curl_easy_setopt(h, CURLOPT_MAXAGE_CONN,
                   message_.may_repeat && !context_.answers_elsewhere()
                       ? max_idle_to_read
                       : static_cast<long>(context_.max_idle().count()));
  curl_easy_setopt(h, CURLOPT_PREREQFUNCTION, &before_request);
  curl_easy_setopt(h, CURLOPT_PREREQDATA, this);
  context_.counts().sent_bytes += message_.body.size();
  transfer_.start();
}

/// Resumes the answer's stream.
void Exchange::begin_get() {
  phase_ = Phase::continuing;
  request_.token_generation = context_.token().generation();
  stream_->restart();
  CURL* const h = transfer_.prepare(context_.handles().take_handle(),
                                    context_.stream_headers(stream_->parser.last_event_id()));
  set_get(h);
  curl_easy_setopt(h, CURLOPT_MAXAGE_CONN, max_idle_to_read);
  transfer_.start();
}

bool SentRequest::has_left(CURL* handle, bool http2) const {
  if (!reached || http2) return reached;
  long bytes = 0;
  curl_easy_getinfo(handle, CURLINFO_REQUEST_SIZE, &bytes);
  return bytes > 0;
}

void Exchange::treat(Treatment how) {
  const auto now = context_.now();
  switch (how) {
    case Treatment::stop_reading:
      clock_.pause(now);
      held_.set_paused(true);
      transfer_.pause(true);
      break;
    case Treatment::read:
      clock_.proceed(now);
      held_.set_paused(false);
      transfer_.pause(false);
      break;
    case Treatment::hold_deadline: clock_.hold(now); break;
    case Treatment::run_deadline: clock_.release(now); break;
    case Treatment::lift_deadline: message_.endless = true; break;
  }
}

void Exchange::settle() {
  if (transfer_.is_running()) {
    phase_ = Phase::draining;
    due_ = context_.now() + drain_time;
  } else if (phase_ == Phase::ended) {
    phase_ = Phase::over;
  } else {
    phase_ = Phase::draining;
    finish();
  }
}

void Exchange::head_line_received(bool) { clock_.note_activity(context_.curl().entered()); }

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
    note_failure(definitive_failure_of(
        ErrorKind::malformed,
        "the upstream's Mcp-Session-Id is not valid in a header: it is not visible ASCII, or over 1024 bytes"));
  } else if (head().is_event_stream()) {
    if (!stream_) begin_stream({});
  } else if (const std::size_t size = announced(head(), context_.options().max_frame);
             size <= expected_at_once * context_.budget().small()) {
    transfer_.expect_body(size);
  }
}

bool Exchange::has_enough() {
  if (head().is_encoded()) return false;
  if (messages_.bytes() > most_undelivered) return true;
  // Over HTTP/2 one that is not read holds up its whole connection.
  if (context_.options().http2 || is_settled()) return false;
  const std::size_t size = stream_ ? 0 : announced(head(), context_.options().max_frame);
  if (!held_.has_room(accumulated(), size)) {
    transfer_.mark_ready();
    return true;
  }
  // Not earlier: the place in the heap may be that of an answer which is gone by now.
  if (size > 0 && held_.granted() >= size) transfer_.expect_body(size);
  return false;
}

bool Exchange::body_received(std::string_view bytes) {
  clock_.note_activity(context_.curl().entered());
  context_.counts().received_bytes += bytes.size();
  const std::size_t limit = head().is_success() ? context_.options().max_frame : max_error_body;
  if (failed_end_) {
    transfer_.mark_ready();
    return false;
  }
  if (stream_ && head().is_success()) {  // a refusal of the GET is not part of the stream
    stream_->parser.feed(bytes, *this);
    if (is_flood(head().is_encoded(), messages_.bytes(), limit) && !failed_end_)
      note_failure(answer_too_large(limit));
  } else if (!transfer_.keep_body(bytes, limit) && head().is_success()) {
    note_failure(answer_too_large(limit));
  }
  const bool full = context_.budget().over();
  if (full) forget_body();
  held_.count(accumulated(), message_.body.size() + messages_.bytes());
  // With full buffers its owner checks what accumulates.
  if (!messages_.empty() || failed_end_ || full) transfer_.mark_ready();
  return !failed_end_;
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

/// The body is the answer.
void Exchange::take_body() {
  something_came_ = true;
  messages_.add_any(transfer_.take_body());
}

void Exchange::on_event(std::string, ReceivedText data) {
  auto event_before = stream_->take_event();
  // A short first message may be an error that leads to another session: HttpUpstream::take_back.
  const bool is_final = something_came_ || data.bytes.size() > longest_error;
  if (!event_before || !messages_.add(std::move(data), *std::move(event_before))) return;
  something_came_ = true;
  if (is_final) forget_body();
}

void Exchange::on_retry(std::chrono::milliseconds delay) { stream_->continuation.set_retry(delay); }

void Exchange::on_oversized_event() {
  note_failure(failure_of(
      ErrorKind::too_large, Delivered::unknown,
      fmt::format("an event of the upstream's answer is over the limit of {} bytes (--max-frame)",
                  context_.options().max_frame)));
}

void Exchange::transfer_progressed(bool done, int result) {
  if (done) {
    transfer_done(result);
  } else if (failed_end_ && !is_settled()) {
    end_failed(is_given_back());
  }
  owner_.exchange_progressed(message_.id);
}

std::optional<ReceivedText> Exchange::next_message() {
  if (messages_.empty() && !clock_.is_paused() && !held_.is_held()) transfer_.proceed();
  return messages_.next_message();
}

// Results of an exchange: an answer, a stream to be resumed, an answer elsewhere, or a failure.

namespace {

/// How long a notification may delay its client's next frame.
constexpr std::chrono::seconds notification_time{30};
/// An answer expected on another stream may come on any, but most likely on the server stream.
constexpr std::chrono::seconds no_stream_timeout{5};
constexpr std::string_view unusable_event_id =
    "it cannot be resumed: its event id is too long or not valid in a header";

}  // namespace

void Exchange::transfer_done(int result) {
  CURL* const handle = transfer_.handle();
  context_.counts().connections += connections_opened(handle);
  if (phase_ != Phase::continuing)
    request_.reached = head().complete || request_.has_left(handle, context_.options().http2);
  const std::string said = transfer_.error_text();  // freed with the handle
  TransferProgress progress{reached_by(handle, transfer_.was_connected(), request_.reached), said};
  if (result == CURLE_OK && !head().complete) {
    result = CURLE_GOT_NOTHING;
    progress.detail = "its head is not complete";
  }
  // A second attempt of curl was prevented: the request was sent once.
  if (result == CURLE_ABORTED_BY_CALLBACK)
    progress.detail = "the server closed it while it was being reused";
  close_transfer();
  if (result == CURLE_BAD_CONTENT_ENCODING && head().complete && !head().is_success())
    result = CURLE_OK;  // the status says enough
  if (is_settled()) {
    const bool is_message = result == CURLE_OK && is_request() && head().is_success() &&
                            head().is_json() && !context_.answers_elsewhere() &&
                            transfer_.body().find_first_not_of(" \t\r\n") != std::string::npos;
    if (is_message) take_body();
    finish();
  } else if (failed_end_) {
    end_failed(is_given_back());
  } else if (result != CURLE_OK) {
    if (try_to_continue()) return;
    if (has_unusable_event_id()) progress.detail = unusable_event_id;
    Failure failure = failure_of_response(context_, head(), result, progress);
    if (!was_taken(failure)) {
      finish(std::move(failure));
    } else if (is_request()) {
      accepted();
    } else {
      finish();
    }
  } else if (follow_redirection()) {
    return;
  } else if (head().is_success()) {
    answer_complete();
  } else {
    refused();
  }
}

void Exchange::refused() {
  const int status = head().status;
  const bool is_continuation = phase_ == Phase::continuing;
  if (is_continuation) {
    const bool renews =
        head().refuses_token() && stream_->continuation.may_renew_token() && refuse_token();
    const bool is_passing = status >= 500 || status == 429 || status == 409;
    if ((renews || is_passing) && try_to_continue()) return;
  }
  Failure failure = failure_of_status(context_, head(), transfer_.body());
  const Refusal refusal{status, head().retry_after.has_value(), failure.error_object,
                        transfer_.body(), request_.session_named_by};
  const SessionVerdict verdict = session_verdict(refusal);
  const bool perhaps_acted = may_have_acted(refusal);
  if (verdict == SessionVerdict::lost) failure.delivered = Delivered::no;
  if (is_continuation) {
    failure.kind = ErrorKind::closed;
    const std::string_view broke = "the answer's stream broke and cannot be resumed: ";
    failure.message.insert(0, broke);
    failure.summary.insert(0, broke);
    failure.status = 0;
    failure.delivered = Delivered::unknown;
    failure.retry_after.reset();
    failure.error_object.clear();
  }
  finish(std::move(failure));
  failed_end_->session = verdict;
  failed_end_->may_have_acted = perhaps_acted;
}

/// A success: evaluates its body.
void Exchange::answer_complete() {
  if (denies_session()) {
    end_without_session();
    return;
  }
  if (!is_request()) {
    finish();
    return;
  }
  if (context_.answers_elsewhere()) {
    if (!is_refused_by_body()) {
      accepted();
      return;
    }
    take_body();
    finish();
    return;
  }
  if (try_to_continue()) return;
  if (has_unusable_event_id()) {
    finish(failure_of(
        ErrorKind::closed, Delivered::unknown,
        fmt::format("the answer's stream ended before the answer: {}", unusable_event_id)));
    return;
  }
  const int status = head().status;
  if (head().is_event_stream()) {
    if (session_is_over_) {  // it can no longer be resumed
      end_in_vain();
    } else if (status != 200 && may_be_answered_elsewhere()) {
      accepted();
    } else {
      finish();
    }
    return;
  }
  const bool blank = transfer_.body().find_first_not_of(" \t\r\n") == std::string::npos;
  if (blank && (!may_be_answered_elsewhere() || (status == 200 && head().is_json()))) {
    finish();
    return;
  }
  if (blank || is_only_receipt()) {
    accepted();
    return;
  }
  if (!head().is_json()) {
    finish(failure_of(
        ErrorKind::malformed, Delivered::unknown,
        fmt::format(
            "the upstream answered with content type '{}', not JSON and not an event stream",
            printable(head().content_type(), 80))));
    return;
  }
  take_body();
  if (status != 200 && may_be_answered_elsewhere()) {  // perhaps by this body
    accepted();
  } else {
    finish();
  }
}

/// Whether the body, other than a message of a JSON-RPC server, says that the session is missing.
bool Exchange::denies_session() const {
  const std::string& body = transfer_.body();
  if (head().is_event_stream() || body.empty() || body.size() > longest_error) return false;
  if (is_request() && head().is_json() && body.find(R"("jsonrpc")") != body.npos) return false;
  return session_verdict({head().status, false, {}, body, request_.session_named_by}) ==
         SessionVerdict::doubtful;
}

void Exchange::end_without_session() {
  Failure failure = failure_of(
      ErrorKind::malformed, Delivered::unknown,
      fmt::format("the upstream answered with content type '{}', not with a JSON-RPC message",
                  printable(head().content_type(), 80)));
  failure.summary = failure.message;
  failure.message +=
      fmt::format(": {}", printable(context_.without_secrets(transfer_.body()), 200));
  note_failure(std::move(failure));
  failed_end_->session = SessionVerdict::doubtful;
  end_failed(!message_.body.empty());
}

/// With HTTP+SSE: whether the body is the error that answers the request, which the event stream
/// then does not.
bool Exchange::is_refused_by_body() const {
  const std::string& body = transfer_.body();
  if (!head().is_json() || body.find(R"("error")") == body.npos) return false;
  const auto parsed = parse_frame(body);
  const auto* const frame = std::get_if<Frame>(&parsed);
  return frame != nullptr && frame->is_response() && frame->error.present() &&
         (frame->id_is_null || unsigned_by_value(frame->text(frame->id)) == value_of(message_.id));
}

/// The answer to an `initialize` has no other stream yet, and one without a session never has.
bool Exchange::may_be_answered_elsewhere() const { return is_stateful() && !message_.begins_run(); }

/// Whether the body only says that the request was taken: after a status other than 200 all that is
/// no message; JSON such as `{"accepted":true}` while the answer can come on the server stream.
bool Exchange::is_only_receipt() const {
  constexpr std::size_t longest = 4096;
  if (!may_be_answered_elsewhere()) return false;
  const bool is_ok = head().status == 200;
  if (!head().is_json()) return !is_ok;
  const std::string& body = transfer_.body();
  if (is_ok && (!context_.has_server_stream() || body.size() > longest ||
                body.find(R"("jsonrpc")") != body.npos || !is_json(body)))
    return false;
  return !is_batch(body) && std::holds_alternative<FrameFault>(parse_frame(body));
}

/// Whether the response broke, but its answer may come on another stream: its status says that the
/// message was taken, or the server of HTTP+SSE, whose stream is open, closed without a byte.
bool Exchange::was_taken(const Failure& failure) const {
  if (phase_ == Phase::continuing) return false;
  const bool elsewhere = context_.answers_elsewhere();
  if (head().is_success()) {
    const bool has_no_answer =
        head().status != 200 && may_be_answered_elsewhere() && !head().is_event_stream();
    return elsewhere || !is_request() || has_no_answer;
  }
  return elsewhere && is_request() && head().status == 0 && failure.kind == ErrorKind::closed &&
         failure.delivered == Delivered::unknown;
}

/// The answer comes on another stream.
void Exchange::accepted() {
  phase_ = Phase::awaiting_elsewhere;
  due_ = SteadyTime::max();
  server_stream_changed();
  transfer_.take_body();
  if (!message_.may_repeat) message_.body = std::string();
  held_.end();
  held_.count(accumulated(), message_.body.size());
}

/// The stream broke or ended before the answer. With event ids it is resumed by a GET.
bool Exchange::try_to_continue() {
  if (!is_request() || !is_stateful() || session_is_over_ || !stream_ || !stream_->can_continue())
    return false;
  due_ = context_.now() + stream_->continuation.next_delay();
  phase_ = Phase::waiting_to_continue;
  held_.end();
  return true;
}

bool Exchange::has_unusable_event_id() const {
  return is_request() && stream_ && stream_->has_unusable_id();
}

void Exchange::server_stream_changed() {
  if (phase_ != Phase::awaiting_elsewhere) return;
  if (context_.answers_elsewhere() || context_.has_server_stream()) {
    due_ = SteadyTime::max();
  } else if (!lacks_stream()) {
    due_ = context_.now() + no_stream_timeout;
  }
}

bool Exchange::follow_redirection() {
  if (!transfer_.redirection().follow(context_.post_url(), head())) return false;
  if (phase_ != Phase::continuing) {
    post();  // a server that redirects has not acted
  } else if (session_is_over_) {
    end_in_vain();
  } else {
    begin_get();
  }
  return true;
}

/// Whether its owner gets the message back to decide about a retry: always before any part of a
/// response arrived. After 202 only if the request merely reads, because its response may be on its
/// way; the same if the response has begun and cannot be resumed.
bool Exchange::is_given_back() const {
  if (phase_ == Phase::posting) return true;
  const bool is_lost = phase_ == Phase::answering && !is_stateful();
  return message_.may_repeat && (is_lost || phase_ == Phase::awaiting_elsewhere);
}

void Exchange::finish() {
  close_transfer();
  phase_ = is_settled() ? Phase::over : Phase::ended;
  held_.end();
  held_.count(0, 0);
}

void Exchange::note_failure(Failure&& failure) {
  failed_end_ = std::make_unique<Ending>();
  failed_end_->failure = std::move(failure);
}

/// REQUIRES: note_failure().
void Exchange::end_failed(bool give_back) {
  finish();
  if (give_back) failed_end_->unanswered = std::move(message_);
}

std::optional<Outgoing> Exchange::take_back() {
  if (message_.body.empty() || phase_ == Phase::continuing) return std::nullopt;
  return std::move(message_);
}

Ending Exchange::take_ending() {
  Ending ending = failed_end_ ? std::move(*failed_end_) : Ending{};
  ending.something_came = something_came_;
  return ending;
}

void Exchange::fail(Failure failure) {
  if (!has_ended()) finish(std::move(failure));
}

MessageTimeouts Exchange::timeouts() const {
  const HttpOptions& options = context_.options();
  MessageTimeouts timeouts{options.request_timeout, options.request_max, options.pause_timeout};
  if (message_.endless) timeouts.silence = timeouts.in_all = {};
  if (!is_request()) timeouts.delivery = notification_time;
  return timeouts;
}

/// A stream that is not read is not resumed either.
bool Exchange::may_continue() const {
  return phase_ == Phase::waiting_to_continue && !clock_.is_paused();
}

/// Whether its session is over and no message under way could answer it.
bool Exchange::waits_in_vain() const {
  return session_is_over_ &&
         (phase_ == Phase::waiting_to_continue || phase_ == Phase::awaiting_elsewhere);
}

SteadyTime Exchange::deadline() const {
  if (phase_ == Phase::draining) return due_;
  if (waits_in_vain()) return context_.now();
  const bool elsewhere = phase_ == Phase::awaiting_elsewhere;
  const SteadyTime due = clock_.deadline(
      timeouts(), elsewhere ? std::optional(context_.last_activity()) : std::nullopt);
  return elsewhere || may_continue() ? std::min(due, due_) : due;
}

void Exchange::check_time(SteadyTime now, SteadyTime& next) {
  if (has_ended()) return;
  if (waits_in_vain()) {
    end_in_vain();
    return;
  }
  if (may_continue() && due_ <= now) {
    transfer_.redirection().begin_request();
    begin_get();
  }
  const SteadyTime due = deadline();
  if (due > now) {
    next = std::min(next, due);
  } else {
    time_out(now);
  }
}

void Exchange::end_in_vain() {
  finish(failure_of(
      ErrorKind::closed, Delivered::unknown,
      "the session was lost before the answer could be continued or came on another stream"));
}

void Exchange::time_out(SteadyTime now) {
  if (phase_ == Phase::draining) {
    finish();
    return;
  }
  if (lacks_stream() && due_ <= now) {
    finish(
        failure_of(ErrorKind::malformed, Delivered::unknown,
                   fmt::format("the upstream answered HTTP {} without an answer, and there is no "
                               "server stream on which it could come",
                               head().status)));
    return;
  }
  Failure failure;
  failure.kind = ErrorKind::timeout;
  failure.delivered = request_.reached ? Delivered::unknown : Delivered::no;
  failure.message =
      !is_request() ? "the upstream did not accept the message in time"
      : held_.is_held()
          ? "the answer, part of which has come, waited for room in --max-buffered until its time was over"
      : clock_.took_too_long(now, timeouts()) ? "the answer took longer than --request-max"
      : phase_ == Phase::awaiting_elsewhere && context_.has_paused_stream()
          ? "the stream on which the answer comes was not read for longer than --request-timeout: --max-buffered is used up"
      : clock_.is_paused()
          ? "the answer was not read for longer than --request-timeout and --client-stall: its client does not read"
          : "the upstream sent nothing for longer than --request-timeout";
  note_failure(std::move(failure));
  end_failed(is_given_back() && !(phase_ == Phase::posting && request_.reached));
}

bool Exchange::survives_upgrade(bool server_stream_resumes) const {
  if (!is_request() || session_is_over_ || !is_stateful() || !messages_.empty()) return false;
  if (phase_ == Phase::awaiting_elsewhere)
    return !context_.answers_elsewhere() && server_stream_resumes;
  const bool has_begun = phase_ == Phase::answering || phase_ == Phase::waiting_to_continue ||
                         phase_ == Phase::continuing;
  return has_begun && !failed_end_ && stream_ && stream_->can_continue();
}

SavedMessage Exchange::save_message() const {
  SavedMessage saved;
  saved.message = message_;
  saved.started = clock_.started(context_.now());
  saved.last_activity = clock_.last_activity();
  saved.excused = clock_.excused(context_.now());
  saved.elsewhere = phase_ == Phase::awaiting_elsewhere;
  if (!stream_) return saved;
  const std::list<std::string>& seen = stream_->continuation.seen();
  saved.event_id = stream_->parser.last_event_id();
  saved.seen.assign(seen.begin(), seen.end());
  saved.retry = stream_->continuation.retry();
  return saved;
}

void Exchange::restore(const SavedMessage& saved) {
  const SteadyTime now = context_.now();
  clock_.restore(saved.started, saved.excused, now);
  request_.reached = true;
  request_.session_named_by = context_.session_named_by(is_stateful());
  something_came_ = !saved.elsewhere;
  if (saved.elsewhere) {
    phase_ = Phase::awaiting_elsewhere;
    due_ = SteadyTime::max();
    server_stream_changed();
    return;
  }
  begin_stream(saved.event_id);
  stream_->continuation.restore(saved.seen, saved.retry);
  phase_ = Phase::waiting_to_continue;
  due_ = now;
}

}  // namespace bridge
