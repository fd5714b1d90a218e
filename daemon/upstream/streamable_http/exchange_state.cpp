#include "upstream/streamable_http/exchange_state.hpp"

#include <algorithm>
#include <optional>

namespace bridge {
namespace {

/// How long an answer's stream may continue after the answer.
constexpr std::chrono::seconds drain_time{1};
/// How long a notification may delay its client's next frame.
constexpr std::chrono::seconds notification_time{30};
/// An answer expected on another stream may come on any, but most likely on the server stream.
constexpr std::chrono::seconds no_stream_timeout{5};

}  // namespace

void ExchangeState::begin_draining() { begin_phase(Phase::draining, context_.now() + drain_time); }

void ExchangeState::server_stream_changed() {
  if (!is(Phase::awaiting_elsewhere)) return;
  if (context_.answers_elsewhere() || context_.has_server_stream()) {
    due_ = SteadyTime::max();
  } else if (!lacks_stream()) {
    due_ = context_.now() + no_stream_timeout;
  }
}

MessageTimeouts ExchangeState::timeouts() const {
  const HttpOptions& options = context_.options();
  MessageTimeouts timeouts{options.request_timeout, options.request_max, options.pause_timeout};
  if (message_.endless) timeouts.silence = timeouts.in_all = {};
  if (message_.kind != OutgoingKind::request) timeouts.delivery = notification_time;
  return timeouts;
}

SteadyTime ExchangeState::deadline() const {
  if (is(Phase::draining)) return due_;
  if (waits_in_vain()) return context_.now();
  const bool elsewhere = is(Phase::awaiting_elsewhere);
  const SteadyTime due = clock_.deadline(
      timeouts(), elsewhere ? std::optional(context_.last_activity()) : std::nullopt);
  return elsewhere || may_continue() ? std::min(due, due_) : due;
}

std::string_view ExchangeState::timeout_text(SteadyTime now, bool is_held) const {
  if (message_.kind != OutgoingKind::request)
    return "the upstream did not accept the message in time";
  if (is_held)
    return "the answer, part of which has come, waited for room in --max-buffered until its time was over";
  if (clock_.took_too_long(now, timeouts())) return "the answer took longer than --request-max";
  if (is(Phase::awaiting_elsewhere) && context_.has_paused_stream())
    return "the stream on which the answer comes was not read for longer than --request-timeout: --max-buffered is used up";
  if (clock_.is_paused())
    return "the answer was not read for longer than --request-timeout and --client-stall: its client does not read";
  return "the upstream sent nothing for longer than --request-timeout";
}

}  // namespace bridge
