#include "upstream/streamable_http/exchange.hpp"

#include <curl/curl.h>

#include <utility>

#include "http/client/web_url.hpp"
#include "upstream/streamable_http/failures.hpp"
#include "upstream/streamable_http/http_upstream.hpp"

namespace bridge {
namespace {

constexpr std::string_view unusable_event_id =
    "it cannot be resumed: its event id is too long or not valid in a header";

}  // namespace

Exchange::Exchange(HttpContext& context, HttpUpstream& owner, Outgoing&& message)
    : context_(context),
      owner_(owner),
      sent_(context, transfer_, std::move(message)),
      state_(context, sent_.message()),
      answer_(context, transfer_, sent_.message()),
      transfer_(context.curl(), *this) {
  state_.clock().start_clock(context_.curl().loop().round_began());
}

// Its requests.

void Exchange::post() {
  state_.begin_post();
  sent_.prepare_post();
  transfer_.start();
}

void Exchange::resume() {
  answer_.begin_stream(sent_.message().resumes_after);
  continue_stream();
}

/// Resumes the answer's stream.
void Exchange::continue_stream() {
  state_.begin_phase(Phase::continuing);
  answer_.stream()->restart();
  sent_.prepare_get(answer_.stream()->parser.last_event_id());
  transfer_.start();
}

bool Exchange::follow_redirection() {
  if (!transfer_.redirection().follow(context_.post_url(), head())) return false;
  if (!state_.is(Phase::continuing)) {
    post();  // a server that redirects has not acted
  } else if (state_.is_session_over()) {
    end_in_vain();
  } else {
    continue_stream();
  }
  return true;
}

/// The stream broke or ended before the answer. With event ids it is resumed by a GET.
bool Exchange::try_to_continue() {
  if (!sent_.is_request() || !sent_.is_stateful() || state_.is_session_over() ||
      !answer_.can_continue())
    return false;
  state_.begin_phase(Phase::waiting_to_continue,
                     context_.now() + answer_.stream()->continuation.next_delay());
  answer_.end_response();
  return true;
}

bool Exchange::has_unusable_event_id() const {
  return sent_.is_request() && answer_.stream() != nullptr && answer_.stream()->has_unusable_id();
}

// What curl reads.

void Exchange::head_line_received(bool) { state_.clock().note_activity(context_.curl().entered()); }

bool Exchange::names_session() const {
  return !head().session_id.empty() && head().is_success() && !state_.is_session_over() &&
         sent_.is_stateful() && (sent_.message().opens_session || context_.session_id().empty());
}

void Exchange::body_begins() {
  if (!head().is_success()) return;
  if (state_.is(Phase::posting)) state_.begin_phase(Phase::answering);
  if (names_session() && !fits_header(head().session_id, header_limit::session_id)) {
    note_failure(definitive_failure_of(
        ErrorKind::malformed,
        "the upstream's Mcp-Session-Id is not valid in a header: it is not visible ASCII, or over 1024 bytes"));
  } else {
    answer_.begin_body();
  }
}

bool Exchange::body_received(std::string_view bytes) {
  state_.clock().note_activity(context_.curl().entered());
  context_.counts().received_bytes += bytes.size();
  if (failed_end_) {
    transfer_.mark_ready();
    return false;
  }
  if (auto failure = answer_.read_bytes(bytes)) note_failure(std::move(*failure));
  const bool full = context_.budget().over();
  if ((full || answer_.is_final()) && !state_.is(Phase::posting)) sent_.forget_body();
  answer_.count_held();
  // With full buffers its owner checks what accumulates.
  if (answer_.has_messages() || failed_end_ || full) transfer_.mark_ready();
  return !failed_end_;
}

void Exchange::transfer_progressed(bool done, int result) {
  if (done) {
    transfer_done(result);
  } else if (failed_end_ && !state_.is_settled()) {
    end_failed(is_given_back());
  }
  owner_.exchange_progressed(id());
}

// What follows the end of a response: another request, an answer elsewhere, or the end.

void Exchange::transfer_done(int result) {
  CURL* const handle = transfer_.handle();
  context_.counts().connections += connections_opened(handle);
  if (!state_.is(Phase::continuing)) sent_.note_end_of_post();
  const std::string said = transfer_.error_text();  // freed with the handle
  TransferProgress progress{reached_by(handle, transfer_.was_connected(), sent_.was_reached()),
                            said};
  if (result == CURLE_OK && !head().complete) {
    result = CURLE_GOT_NOTHING;
    progress.detail = "its head is not complete";
  }
  // A second attempt of curl was prevented: the request was sent once.
  if (result == CURLE_ABORTED_BY_CALLBACK)
    progress.detail = "the server closed it while it was being reused";
  sent_.close();
  if (result == CURLE_BAD_CONTENT_ENCODING && head().complete && !head().is_success())
    result = CURLE_OK;  // the status says enough
  if (state_.is_settled()) {
    if (result == CURLE_OK && is_late_message(complete_answer())) answer_.take_body();
    finish();
  } else if (failed_end_) {
    end_failed(is_given_back());
  } else if (result != CURLE_OK) {
    if (try_to_continue()) return;
    if (has_unusable_event_id()) progress.detail = unusable_event_id;
    Failure failure = failure_of_response(context_, head(), result, progress);
    if (state_.is(Phase::continuing) || !was_taken(complete_answer(), failure)) {
      finish(std::move(failure));
    } else if (sent_.is_request()) {
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

CompleteAnswer Exchange::complete_answer() const {
  return {head(),
          transfer_.body(),
          sent_.message(),
          sent_.session_named_by(),
          context_.answers_elsewhere(),
          context_.has_server_stream()};
}

void Exchange::answer_complete() {
  const AnswerMeaning meaning = meaning_of(complete_answer());
  const bool may_be_continued =
      meaning != AnswerMeaning::denies_session && !context_.answers_elsewhere();
  if (may_be_continued && try_to_continue()) return;
  if (may_be_continued && has_unusable_event_id()) {
    finish(failure_of(
        ErrorKind::closed, Delivered::unknown,
        fmt::format("the answer's stream ended before the answer: {}", unusable_event_id)));
    return;
  }
  switch (meaning) {
    case AnswerMeaning::denies_session: end_without_session(); break;
    case AnswerMeaning::delivered: finish(); break;
    case AnswerMeaning::elsewhere: accepted(); break;
    case AnswerMeaning::message:
      answer_.take_body();
      finish();
      break;
    case AnswerMeaning::perhaps_message:
      answer_.take_body();
      accepted();
      break;
    case AnswerMeaning::stream:
      if (state_.is_session_over()) {  // it can no longer be resumed
        end_in_vain();
      } else if (head().status != 200 && may_be_answered_elsewhere(sent_.message())) {
        accepted();
      } else {
        finish();
      }
      break;
    case AnswerMeaning::not_json:
      finish(failure_of(
          ErrorKind::malformed, Delivered::unknown,
          fmt::format(
              "the upstream answered with content type '{}', not JSON and not an event stream",
              printable(head().content_type(), 80))));
      break;
  }
}

/// The answer comes on another stream.
void Exchange::accepted() {
  state_.await_elsewhere();
  if (!sent_.message().may_repeat) sent_.drop_body();
  answer_.drop_response();
}

void Exchange::refused() {
  const int status = head().status;
  const bool is_continuation = state_.is(Phase::continuing);
  if (is_continuation) {
    const bool renews = head().refuses_token() &&
                        answer_.stream()->continuation.may_renew_token() && refuse_token();
    const bool is_passing = status >= 500 || status == 429 || status == 409;
    if ((renews || is_passing) && try_to_continue()) return;
  }
  Failure failure = failure_of_status(context_, head(), transfer_.body());
  const Refusal refusal{status, head().retry_after.has_value(), failure.error_object,
                        transfer_.body(), sent_.session_named_by()};
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
  end_failed(!sent_.message().body.empty());
}

// Its end.

/// Whether its owner gets the message back to decide about a retry: always before any part of a
/// response arrived. After 202 only if the request merely reads, because its response may be on its
/// way; the same if the response has begun and cannot be resumed.
bool Exchange::is_given_back() const {
  if (state_.is(Phase::posting)) return true;
  const bool is_lost = state_.is(Phase::answering) && !sent_.is_stateful();
  return sent_.message().may_repeat && (is_lost || state_.is(Phase::awaiting_elsewhere));
}

void Exchange::finish() {
  sent_.close();
  state_.finish();
  answer_.end_answer();
}

void Exchange::finish(Failure&& failure) {
  note_failure(std::move(failure));
  end_failed(is_given_back());
}

void Exchange::note_failure(Failure&& failure) {
  failed_end_ = std::make_unique<Ending>();
  failed_end_->failure = std::move(failure);
}

/// REQUIRES: note_failure().
void Exchange::end_failed(bool give_back) {
  finish();
  if (give_back) failed_end_->unanswered = sent_.take_message();
}

void Exchange::fail(Failure failure) {
  if (!state_.has_ended()) finish(std::move(failure));
}

void Exchange::settle() {
  if (transfer_.is_running()) {
    state_.begin_draining();
  } else if (state_.is(Phase::ended)) {
    state_.begin_phase(Phase::over);
  } else {
    state_.begin_draining();
    finish();
  }
}

void Exchange::close() {
  state_.begin_phase(Phase::over);
  answer_.drop_messages();
  answer_.end_response();
  sent_.close();
}

std::optional<Outgoing> Exchange::take_back() {
  if (sent_.message().body.empty() || state_.is(Phase::continuing)) return std::nullopt;
  return sent_.take_message();
}

Ending Exchange::take_ending() {
  Ending ending = failed_end_ ? std::move(*failed_end_) : Ending{};
  ending.something_came = answer_.something_came();
  return ending;
}

// Its time.

void Exchange::treat(Treatment how) {
  MessageClock& clock = state_.clock();
  const auto now = context_.now();
  switch (how) {
    case Treatment::stop_reading:
      clock.pause(now);
      answer_.set_paused(true);
      break;
    case Treatment::read:
      clock.proceed(now);
      answer_.set_paused(false);
      break;
    case Treatment::hold_deadline: clock.hold(now); break;
    case Treatment::run_deadline: clock.release(now); break;
    case Treatment::lift_deadline: sent_.lift_deadline(); break;
  }
}

void Exchange::check_time(SteadyTime now, SteadyTime& next) {
  if (state_.has_ended()) return;
  if (state_.waits_in_vain()) {
    end_in_vain();
    return;
  }
  if (state_.is_time_to_continue(now)) {
    transfer_.redirection().begin_request();
    continue_stream();
  }
  const SteadyTime due = state_.deadline();
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
  if (state_.is(Phase::draining)) {
    finish();
    return;
  }
  if (state_.gives_up_stream(now)) {
    finish(
        failure_of(ErrorKind::malformed, Delivered::unknown,
                   fmt::format("the upstream answered HTTP {} without an answer, and there is no "
                               "server stream on which it could come",
                               head().status)));
    return;
  }
  Failure failure;
  failure.kind = ErrorKind::timeout;
  failure.delivered = sent_.was_reached() ? Delivered::unknown : Delivered::no;
  failure.message = state_.timeout_text(now, answer_.is_held());
  note_failure(std::move(failure));
  end_failed(is_given_back() && !(state_.is(Phase::posting) && sent_.was_reached()));
}

// An upgrade.

bool Exchange::survives_upgrade(bool server_stream_resumes) const {
  if (!sent_.is_request() || state_.is_session_over() || !sent_.is_stateful() ||
      answer_.has_messages())
    return false;
  if (state_.is(Phase::awaiting_elsewhere))
    return !context_.answers_elsewhere() && server_stream_resumes;
  const bool has_begun = state_.is(Phase::answering) || state_.is(Phase::waiting_to_continue) ||
                         state_.is(Phase::continuing);
  return has_begun && !failed_end_ && answer_.can_continue();
}

SavedMessage Exchange::save_message() const {
  SavedMessage saved;
  saved.message = sent_.message();
  saved.started = state_.clock().started(context_.now());
  saved.last_activity = state_.clock().last_activity();
  saved.excused = state_.clock().excused(context_.now());
  saved.elsewhere = state_.is(Phase::awaiting_elsewhere);
  if (const AnswerStream* const stream = answer_.stream()) {
    const std::list<std::string>& seen = stream->continuation.seen();
    saved.event_id = stream->parser.last_event_id();
    saved.seen.assign(seen.begin(), seen.end());
    saved.retry = stream->continuation.retry();
  }
  return saved;
}

void Exchange::restore(const SavedMessage& saved) {
  const SteadyTime now = context_.now();
  state_.clock().restore(saved.started, saved.excused, now);
  sent_.restore();
  answer_.restore_something_came(!saved.elsewhere);
  if (saved.elsewhere) {
    state_.await_elsewhere();
    return;
  }
  answer_.begin_stream(saved.event_id);
  answer_.stream()->continuation.restore(saved.seen, saved.retry);
  state_.begin_phase(Phase::waiting_to_continue, now);
}

}  // namespace bridge
