// What came of an exchange: an answer, a stream to be continued, another place to ask, or a
// failure.
#include <curl/curl.h>

#include <algorithm>
#include <utility>

#include "http/client/public_address.hpp"
#include "upstream/streamable_http/exchange.hpp"
#include "upstream/streamable_http/failures.hpp"

namespace bridge {
namespace {

/// How long a notification may take before the next frame of its client goes.
constexpr std::chrono::seconds notification_time{30};
/// An answer that is to come on another stream may come on any, but most likely it is the server's.
constexpr std::chrono::seconds no_stream_timeout{5};
constexpr std::string_view unusable_event_id =
    "it cannot be resumed, since its event id is too long or cannot stand in a header";

}  // namespace

void Exchange::transfer_done(int result) {
  CURL* const handle = transfer_.handle();
  context_.counts().connections += connections_opened(handle);
  if (phase_ != Phase::continuing) reached_ = head().complete || has_left();
  const std::string said = transfer_.error_text();  // which goes with the handle
  TransferProgress progress{reached_by(handle, transfer_.was_connected(), reached_), said};
  if (result == CURLE_OK && !head().complete) {
    result = CURLE_GOT_NOTHING;
    progress.detail = "its head is not complete";
  }
  // A second attempt of curl's was stopped: the request was sent once.
  if (result == CURLE_ABORTED_BY_CALLBACK)
    progress.detail = "the server closed it while it was being reused";
  close_transfer();
  if (is_settled()) {
    const bool is_message = result == CURLE_OK && is_request() && head().is_success() &&
                            head().is_json() && !context_.answers_elsewhere() &&
                            transfer_.body().find_first_not_of(" \t\r\n") != std::string::npos;
    if (is_message) add_message(transfer_.take_body());
    end();
  } else if (failed_in_callback_) {
    end(std::move(*failed_in_callback_));
  } else if (result != CURLE_OK) {
    if (try_to_continue()) return;
    if (has_unusable_event_id()) progress.detail = unusable_event_id;
    end(failure_of_transfer(context_, result, progress));
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
    const bool renews = (status == 401 || status == 403) && continuation_.may_renew_token() &&
                        context_.token().refused(
                            token_generation_, {status, head().www_authenticate, is_peer_public()});
    const bool is_passing = status >= 500 || status == 429 || status == 409;
    if ((renews || is_passing) && try_to_continue()) return;
  }
  Failure failure = failure_of_status(context_, head(), transfer_.body());
  const SessionVerdict verdict = session_verdict(status, failure.error_object, session_named_by_);
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
  end(std::move(failure));
  failed_end_->session = verdict;
}

/// A success: what did its body hold?
void Exchange::answer_complete() {
  const bool elsewhere = context_.answers_elsewhere();
  if (!is_request()) {
    end();
    return;
  }
  if (elsewhere) {
    accepted();
    return;
  }
  if (try_to_continue()) return;
  if (has_unusable_event_id()) {
    end(failure_of(
        ErrorKind::closed, Delivered::unknown,
        fmt::format("the answer's stream ended before the answer: {}", unusable_event_id)));
    return;
  }
  if (head().is_event_stream()) {
    if (session_is_over_) {  // it may not be continued any more
      end_in_vain();
    } else {
      end();
    }
    return;
  }
  const int status = head().status;
  const bool blank = transfer_.body().find_first_not_of(" \t\r\n") == std::string::npos;
  if (blank && (status == 200 || status == 202 || status == 204)) {
    // There is no other stream yet for the answer to an initialize.
    const bool is_nothing =
        (status == 200 && head().is_json()) || message_.begins_run() || !is_stateful();
    if (is_nothing) {
      end();
    } else {
      accepted();
    }
    return;
  }
  if (!head().is_json()) {
    end(failure_of(
        ErrorKind::malformed, Delivered::unknown,
        fmt::format(
            "the upstream answered with content type '{}', not JSON and not an event stream",
            printable(head().content_type(), 80))));
    return;
  }
  add_message(transfer_.take_body());
  end();
}

/// The answer comes on another stream.
void Exchange::accepted() {
  phase_ = Phase::awaiting_elsewhere;
  due_ = SteadyTime::max();
  server_stream_changed();
  transfer_.take_body();
  if (!message_.may_repeat) message_.body = std::string();
  share_.set(message_.body.size());
}

/// The stream broke or ended before the answer. If it had event ids it is continued by a GET.
bool Exchange::try_to_continue() {
  if (!is_request() || !parser_ || parser_->last_event_id().empty() || session_is_over_ ||
      !is_stateful() || has_unusable_event_id())
    return false;
  due_ = context_.now() + continuation_.next_delay();
  phase_ = Phase::waiting_to_continue;
  return true;
}

bool Exchange::has_unusable_event_id() const {
  return is_request() && parser_ && !parser_->last_event_id().empty() &&
         !fits_header(parser_->last_event_id(), header_limit::event_id, Blanks::inside);
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
    begin_post();  // who redirects has not acted
  } else if (session_is_over_) {
    end_in_vain();
  } else {
    begin_get();
  }
  return true;
}

/// Whether its owner gets the message again, and decides what becomes of it: always before anything
/// of an answer came. A request that was accepted (202) only if it merely reads: its answer may be
/// on its way. So one whose answer has begun, where that cannot be continued.
bool Exchange::is_given_back() const {
  if (phase_ == Phase::posting) return true;
  const bool is_lost = phase_ == Phase::answering && !is_stateful();
  return message_.may_repeat && (is_lost || phase_ == Phase::awaiting_elsewhere);
}

void Exchange::end() {
  close_transfer();
  phase_ = is_settled() ? Phase::over : Phase::ended;
  share_.set(0);
}

void Exchange::end(Failure&& failure, bool give_back) {
  failed_end_ = std::make_unique<Ending>();
  failed_end_->failure = std::move(failure);
  end();
  if (give_back) failed_end_->unanswered = std::move(message_);
}

Ending Exchange::take_ending() {
  Ending ending = failed_end_ ? std::move(*failed_end_) : Ending{};
  ending.something_came = something_came_;
  return ending;
}

void Exchange::fail(Failure failure) {
  if (!has_ended()) end(std::move(failure));
}

ExchangeTimeouts Exchange::timeouts() const {
  const HttpOptions& options = context_.options();
  ExchangeTimeouts timeouts{options.request_timeout, options.request_max, options.pause_timeout};
  if (message_.endless) timeouts.silence = timeouts.in_all = {};
  if (!is_request()) timeouts.delivery = notification_time;
  return timeouts;
}

/// What is not read is not continued either.
bool Exchange::may_continue() const {
  return phase_ == Phase::waiting_to_continue && !clock_.is_paused();
}

/// It belongs to a session that is over, and nothing is under way that could answer it.
bool Exchange::waits_in_vain() const {
  return session_is_over_ &&
         (phase_ == Phase::waiting_to_continue || phase_ == Phase::awaiting_elsewhere);
}

SteadyTime Exchange::deadline() const {
  if (phase_ == Phase::draining) return due_;
  if (waits_in_vain()) return context_.now();
  const bool elsewhere = phase_ == Phase::awaiting_elsewhere;
  const SteadyTime due =
      clock_.deadline(timeouts(), elsewhere ? std::optional(context_.heard()) : std::nullopt);
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
  end(failure_of(
      ErrorKind::closed, Delivered::unknown,
      "the session was lost before the answer could be continued or came on another stream"));
}

void Exchange::time_out(SteadyTime now) {
  if (phase_ == Phase::draining) {
    end();
    return;
  }
  if (lacks_stream() && due_ <= now) {
    end(failure_of(ErrorKind::malformed, Delivered::unknown,
                   fmt::format("the upstream answered HTTP {} without an answer, and there is no "
                               "server stream on which it could come",
                               head().status)));
    return;
  }
  Failure failure;
  failure.kind = ErrorKind::timeout;
  failure.delivered = reached_ ? Delivered::unknown : Delivered::no;
  failure.message =
      !is_request()                           ? "the upstream did not accept the message in time"
      : clock_.took_too_long(now, timeouts()) ? "the answer took longer than --request-max"
      : clock_.is_paused() ? "the answer was not read for longer than --request-timeout and "
                             "--client-stall: its client takes nothing"
                           : "the upstream sent nothing for longer than --request-timeout";
  end(std::move(failure), is_given_back() && !(phase_ == Phase::posting && reached_));
}

bool Exchange::is_peer_public() const {
  return context_.options().proxy.empty() && transfer_.is_peer_public();
}

}  // namespace bridge
