#include "upstream/streamable_http/get_stream.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <utility>

#include "upstream/streamable_http/failures.hpp"
#include "upstream/streamable_http/http_upstream.hpp"

namespace bridge {
namespace {

/// curl reads up to a hundred times in a row from a fast sender; everything is held at once, and
/// small messages take nearly three times their size: so at most a megabyte.
constexpr long read_size = 4096;

}  // namespace

UpstreamGetStream::UpstreamGetStream(EventLoop& loop, HttpContext& context, HttpUpstream& owner)
    : context_(context),
      owner_(owner),
      timer_(loop, [this] { connect(); }),
      parser_(context.options().max_frame),
      share_(context.budget()),
      transfer_(context.curl(), *this) {}

void UpstreamGetStream::open(std::optional<std::string> resumed_after) {
  close();
  opened_ = resumed_after ? Opened::before : Opened::never;
  parser_.restart(std::move(resumed_after).value_or(std::string()));
  if (!context_.options().server_stream || context_.options().stream_retries == 0) return;
  if (last_try_ == LastTry::refused) last_try_ = LastTry::of_no_note;
  pace_.reset();
  state_ = ServerStream::waiting;
  connect();
}

void UpstreamGetStream::reopen() {
  if (state_ != ServerStream::open) return;
  transfer_.close();
  state_ = ServerStream::waiting;
  connect_later(false);
}

void UpstreamGetStream::close() {
  timer_.clear();
  transfer_.close();
  messages_.clear();
  parser_.restart(parser_.last_event_id());
  count_held();
  state_ = ServerStream::off;
}

void UpstreamGetStream::look_for_room() {
  if (transfer_.is_running() && !has_enough()) transfer_.proceed();
}

void UpstreamGetStream::retry_soon() {
  if (state_ != ServerStream::waiting || transfer_.is_running() ||
      last_try_ != LastTry::unreachable)
    return;
  last_try_ = LastTry::of_no_note;
  timer_.set(pace_.earliest(context_.now()));
}

bool UpstreamGetStream::take(LastTry outcome) {
  if (last_try_ != outcome) return false;
  last_try_ = LastTry::of_no_note;
  return true;
}

void UpstreamGetStream::connect() {
  pace_.begin(context_.now());
  transfer_.redirection() = {};
  begin_get();
}

void UpstreamGetStream::begin_get() {
  if (opened_ != Opened::never) opened_ = Opened::before;
  const std::string last_event_id = parser_.last_event_id();
  parser_.restart(last_event_id);
  token_generation_ = context_.token().generation();
  if (!last_event_id.empty() &&
      !fits_header(last_event_id, header_limit::event_id, Blanks::inside)) {
    context_.log().peer(
        LogLevel::warning, "unusable event id",
        "the server stream cannot be resumed: its event id is too long or not valid in a header; notifications may be lost");
  }
  // The handle is not given back because of its keep-alive settings.
  CURL* const h =
      transfer_.prepare(context_.handles().take_handle(), context_.stream_headers(last_event_id));
  set_stream(h);
  curl_easy_setopt(h, CURLOPT_BUFFERSIZE, read_size);
  transfer_.start();
}

void UpstreamGetStream::head_line_received(bool complete) {
  const ResponseHead& head = transfer_.head();
  if (!complete || head.status != 200 || !head.is_event_stream() || !head.can_be_decoded()) return;
  state_ = ServerStream::open;
  opened_ = Opened::silent;
  ++context_.counts().server_stream_openings;
  transfer_.mark_ready();
}

bool UpstreamGetStream::body_received(std::string_view bytes) {
  context_.counts().received_bytes += bytes.size();
  if (state_ != ServerStream::open) return transfer_.keep_body(bytes, max_refusal);
  parser_.feed(bytes, *this);
  count_held();
  if (!messages_.empty()) transfer_.mark_ready();
  return !is_flood(transfer_.head().is_encoded(), messages_.bytes(), context_.options().max_frame);
}

void UpstreamGetStream::on_event(std::string, ReceivedText data) {
  if (!data.bytes.empty()) opened_ = Opened::with_data;
  messages_.add(std::move(data), parser_.last_event_id());
}

void UpstreamGetStream::on_oversized_event() {
  ++oversized_;
  context_.log().peer(
      LogLevel::warning, "oversized event",
      "an event on the server stream was over --max-frame and was skipped ({} so far)", oversized_);
}

void UpstreamGetStream::on_oversized_event_end(std::string_view beginning, std::string_view end) {
  messages_.add_oversized(beginning, end);
}

void UpstreamGetStream::transfer_progressed(bool done, int result) {
  if (done) ended(result);
  owner_.stream_progressed();
  count_held();
}

void UpstreamGetStream::ended(int result) {
  context_.counts().connections += connections_opened(transfer_.handle());
  curl_off_t begun = 0;
  curl_easy_getinfo(transfer_.handle(), CURLINFO_PRETRANSFER_TIME_T, &begun);
  last_try_ = result != CURLE_OK && begun == 0 ? LastTry::unreachable : LastTry::of_no_note;
  transfer_.close();
  const bool opened = state_ == ServerStream::open;
  const ResponseHead& head = transfer_.head();
  const bool answered =
      head.complete && (result == CURLE_OK || result == CURLE_BAD_CONTENT_ENCODING);
  if (!opened && answered && transfer_.redirection().follow(context_.post_url(), head)) {
    begin_get();
    return;
  }
  if (!opened && answered) {
    last_try_ = LastTry::refused;
    const Refusal answer{head.status, false, {}, transfer_.body(), context_.session_named_by(true)};
    if (head.status >= 400 || session_verdict(answer) == SessionVerdict::doubtful) {
      refused();
      return;
    }
  }
  if (opened_ == Opened::never && answered && head.status == 200) {
    has_none(fmt::format(
        "the upstream answers the server stream with content type '{}'{}: not used",
        printable(head.content_type(), 80),
        head.can_be_decoded()
            ? std::string()
            : fmt::format(" and content encoding '{}'", printable(head.content_encoding, 80))));
    return;
  }
  const bool good =
      opened && (opened_ == Opened::with_data || pace_.has_lived_long(context_.now()));
  if (good) pace_.was_good();
  context_.log().peer(LogLevel::debug, "server stream ended",
                      "the server stream ended ({}), opening it again",
                      opened ? std::string("after it was open") : std::string("not opened"));
  connect_later(!good);
}

std::optional<SessionVerdict> UpstreamGetStream::take_refusal() {
  if (take(LastTry::refused)) return SessionVerdict::kept;
  if (take(LastTry::suspicious)) return SessionVerdict::doubtful;
  if (take(LastTry::unclear)) return SessionVerdict::unclear;
  return std::nullopt;
}

void UpstreamGetStream::has_none(std::string_view why) {
  state_ = ServerStream::none;
  if (!std::exchange(said_none_, true))
    context_.log().event(LogLevel::info, "no server stream", "{}", why);
}

void UpstreamGetStream::refused() {
  const ResponseHead& head = transfer_.head();
  const Failure failure = failure_of_status(context_, head, transfer_.body());
  const StreamRefusal refusal =
      stream_refusal({head.status, head.retry_after.has_value(), failure.error_object,
                      transfer_.body(), context_.session_named_by(true)},
                     opened_ != Opened::never);
  if (refusal == StreamRefusal::not_offered) {
    has_none(fmt::format(
        "the upstream has no server stream (HTTP {}): notifications come only with answers",
        head.status));
    return;
  }
  if (refusal == StreamRefusal::lost_session) {
    state_ = ServerStream::waiting;
    last_try_ = LastTry::lost_session;
    return;
  }
  if (refusal == StreamRefusal::suspicious) last_try_ = LastTry::suspicious;
  if (refusal == StreamRefusal::unclear) last_try_ = LastTry::unclear;
  // The next attempt uses the current token.
  if (head.refuses_token()) context_.refuse_token(token_generation_, transfer_);
  // 401, 403, 409, 429 and unexpected answers: later.
  if (head.retry_after) pace_.wait_once(*head.retry_after);
  connect_later(true);
}

void UpstreamGetStream::connect_later(bool failed) {
  state_ = ServerStream::waiting;
  const int bound = context_.options().stream_retries;
  if (failed && !pace_.failed(bound)) {
    state_ = ServerStream::none;
    context_.log().event(
        LogLevel::warning, "server stream given up",
        "the server stream could not be opened in {} tries (--stream-retries): given up", bound);
    return;
  }
  timer_.set(pace_.next(context_.now(), failed));
}

}  // namespace bridge
