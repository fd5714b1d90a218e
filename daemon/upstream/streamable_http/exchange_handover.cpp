// A message whose answer another image of the program is to await.
#include <utility>

#include "upstream/kept_outgoing.hpp"
#include "upstream/streamable_http/exchange.hpp"

namespace bridge {

bool Exchange::survives_upgrade(bool server_stream_resumes) const {
  if (!is_request() || session_is_over_ || !is_stateful() || !messages_.empty()) return false;
  if (phase_ == Phase::awaiting_elsewhere)
    return !context_.answers_elsewhere() && server_stream_resumes;
  const bool has_begun = phase_ == Phase::answering || phase_ == Phase::waiting_to_continue ||
                         phase_ == Phase::continuing;
  return has_begun && !failed_in_callback_ && parser_ && !parser_->last_event_id().empty() &&
         !has_unusable_event_id();
}

KeptMessage Exchange::to_keep() const {
  KeptMessage kept = kept_message(message_);
  kept.started = ticks_of(clock_.started(context_.now()));
  kept.heard = ticks_of(clock_.heard());
  kept.excused = static_cast<std::uint64_t>(clock_.excused(context_.now()).count());
  kept.elsewhere = phase_ == Phase::awaiting_elsewhere;
  if (parser_) kept.event_id = parser_->last_event_id();
  kept.seen.assign(continuation_.seen().begin(), continuation_.seen().end());
  kept.retry = static_cast<std::uint64_t>(continuation_.retry().count());
  return kept;
}

void Exchange::go_on_with(KeptMessage kept) {
  const SteadyTime now = context_.now();
  clock_.go_on_from(steady_time_of(kept.started),
                    SteadyTime::duration(static_cast<SteadyTime::rep>(kept.excused)), now);
  share_.set(message_.body.size());
  reached_ = true;
  session_named_by_ = context_.session_named_by(is_stateful());
  something_came_ = !kept.elsewhere;
  if (kept.elsewhere) {
    phase_ = Phase::awaiting_elsewhere;
    due_ = SteadyTime::max();
    server_stream_changed();
    return;
  }
  parser_ = std::make_unique<SseParser>(context_.options().max_frame);
  last_event_ = kept.event_id;
  parser_->set_last_event_id(std::move(kept.event_id));
  continuation_.go_on_with(kept.seen,
                           std::chrono::milliseconds(static_cast<std::int64_t>(kept.retry)));
  phase_ = Phase::waiting_to_continue;
  due_ = now;
}

}  // namespace bridge
