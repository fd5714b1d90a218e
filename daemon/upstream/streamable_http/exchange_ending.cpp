// What came of an exchange: an answer, a stream to be continued, another place to ask, or a
// failure.
#include <curl/curl.h>

#include <algorithm>
#include <utility>

#include "text/json_text.hpp"
#include "upstream/streamable_http/exchange.hpp"
#include "upstream/streamable_http/failures.hpp"

namespace bridge {
namespace {

/// How long a notification may take before the next frame of its client goes.
constexpr std::chrono::seconds notification_time{30};
/// A server that asks for no delay at all is not asked in a loop.
constexpr std::chrono::milliseconds shortest_retry{100};
/// An answer that is to come on another stream may come on any, but most likely it is the server's.
constexpr std::chrono::seconds no_stream_patience{5};
constexpr std::string_view unusable_event_id =
    "it cannot be resumed, since its event id is too long or cannot stand in a header";

}  // namespace

void Exchange::transfer_done(int result) {
  context_.counts().connections += connections_opened(handle_.get());
  static_assert(std::tuple_size_v<decltype(error_text_)> >= CURL_ERROR_SIZE);
  if (!resuming_) reached_ = has_left();
  TransferProgress progress{reached_by(handle_.get(), was_connected(), reached_),
                            error_text_.data()};
  if (result == CURLE_OK && !head_.complete) {
    result = CURLE_GOT_NOTHING;
    progress.detail = "its head is not complete";
  }
  // A second attempt of curl's was stopped: the request was sent once.
  if (result == CURLE_ABORTED_BY_CALLBACK)
    progress.detail = "the server closed it while it was being reused";
  release_handle();
  if (failed_in_callback_ && !settled_) {
    end(std::move(*failed_in_callback_));
    return;
  }
  if (result != CURLE_OK) {
    if (settled_) {
      end(std::nullopt);
    } else if (!try_resume()) {
      if (has_unusable_event_id()) progress.detail = unusable_event_id;
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
  if (resuming_ && unauthorized && !std::exchange(reauthorized_, true) &&
      owner_.exchange_unauthorized(*this) && try_resume()) {
    return;
  }
  if (resuming_ && (head_.status >= 500 || head_.status == 429 || head_.status == 409) &&
      try_resume())
    return;
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
  if (is_request && !settled_ && !elsewhere) {
    if (try_resume()) return;
    if (has_unusable_event_id()) {
      end(failure_of(
          ErrorKind::closed, Delivered::unknown,
          fmt::format("the answer's stream ended before the answer: {}", unusable_event_id)));
      return;
    }
  }
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
    if (message_.opens_session && !elsewhere) {
      end(std::nullopt);  // there is no other stream yet
      return;
    }
    awaited_elsewhere_ = true;
    answer_begun_ = true;
    server_stream_changed();
    body_ = std::string();
    if (!message_.may_repeat) message_.body = std::string();
    share_.set(message_.body.size());
    return;
  }
  if (!head_.is_json()) {
    Failure failure;
    failure.kind = ErrorKind::malformed;
    failure.message = fmt::format(
        "the upstream answered with content type '{}', not JSON and not an event stream",
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
  if (message_.kind != OutgoingKind::request || !parser_ || parser_->last_event_id().empty())
    return false;
  if (session_generation_ != context_.session_generation() || has_unusable_event_id()) return false;
  auto delay = std::max(retry_, shortest_retry);
  for (int i = 0; i < std::min(resumptions_failed_, 6); ++i) delay *= 2;
  delay = std::min<std::chrono::milliseconds>(delay,
                                              std::max(retry_, std::chrono::milliseconds(30000)));
  ++resumptions_failed_;
  resume_at_ = context_.now() + delay;
  return true;
}

bool Exchange::has_unusable_event_id() const {
  return message_.kind == OutgoingKind::request && parser_ && !parser_->last_event_id().empty() &&
         !fits_header(parser_->last_event_id(), header_limit::event_id, Blanks::inside);
}

void Exchange::server_stream_changed() {
  if (!awaited_elsewhere_ || context_.answers_elsewhere() || context_.has_server_stream()) {
    no_stream_since_.reset();
  } else if (!no_stream_since_) {
    no_stream_since_ = context_.now();
  }
}

bool Exchange::is_answer_nowhere(SteadyTime now) const {
  return no_stream_since_ && *no_stream_since_ + no_stream_patience <= now;
}

void Exchange::session_forgotten() {
  if (resume_at_ || awaited_elsewhere_) resume_at_ = context_.now();
}

bool Exchange::follow_redirect() {
  if (!redirection_.follow(context_.post_url(), head_)) return false;
  if (resuming_) {
    begin_get();
    return true;
  }
  reached_ = false;  // who redirects has not acted
  body_.clear();
  head_ = ResponseHead{};
  body_begun_ = false;
  begin_post();
  return true;
}

Ending Exchange::take_ending() {
  Ending ending;
  ending.failure = std::move(failure_);
  ending.session = verdict_;
  ending.something_came = something_came_;
  if (ending.failure && (!answer_begun_ || (awaited_elsewhere_ && message_.may_repeat)))
    ending.unanswered = std::move(message_);
  return ending;
}

ExchangePatience Exchange::patience() const {
  const HttpOptions& options = context_.options();
  ExchangePatience patience{options.request_timeout, options.request_max, options.pause_patience};
  if (message_.kind != OutgoingKind::request) patience.handover = notification_time;
  return patience;
}

/// What is not read is not continued either; but one whose session is gone has to learn of it.
bool Exchange::may_resume() const {
  return resume_at_ &&
         (!clock_.is_paused() || session_generation_ != context_.session_generation());
}

SteadyTime Exchange::deadline() const {
  if (settled_) return drain_until_.value_or(SteadyTime::max());
  const auto elsewhere = awaited_elsewhere_ ? std::optional(context_.heard()) : std::nullopt;
  SteadyTime due = clock_.deadline(patience(), elsewhere);
  if (no_stream_since_) due = std::min(due, *no_stream_since_ + no_stream_patience);
  return may_resume() ? std::min(due, *resume_at_) : due;
}

void Exchange::check_time(SteadyTime now, SteadyTime& next) {
  if (ended_) return;
  if (may_resume() && *resume_at_ <= now) begin_resume();
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
  if (is_answer_nowhere(now)) {
    end(failure_of(ErrorKind::malformed, Delivered::unknown,
                   fmt::format("the upstream answered HTTP {} without an answer, and there is no "
                               "server stream on which it could come",
                               head_.status)));
    return;
  }
  Failure failure;
  failure.kind = ErrorKind::timeout;
  failure.delivered = reached_ ? Delivered::unknown : Delivered::no;
  failure.message =
      message_.kind != OutgoingKind::request  ? "the upstream did not accept the message in time"
      : clock_.took_too_long(now, patience()) ? "the answer took longer than --request-max"
      : clock_.is_paused() ? "the answer was not read for longer than --request-timeout and "
                             "--client-stall: its client takes nothing"
                           : "the upstream sent nothing for longer than --request-timeout";
  const bool begun = std::exchange(answer_begun_, true);  // it is not to be sent again
  end(std::move(failure));
  answer_begun_ = begun || reached_;
}

}  // namespace bridge
