#include "session/upstream_dispatch.hpp"

#include <utility>
#include <variant>

#include "json/json_text.hpp"

namespace bridge {

/// The side that sent the message with this id.
EraSession& UpstreamDispatch::sender_of(UpstreamId id) {
  if (const auto own = own_.find(id)) return sides_.of(own->side);
  if (const auto of_client = events_->side_of(id)) return sides_.of(*of_client);
  return side_without_origin();
}

/// The side of a message on no request's stream: for a local server the one that it speaks;
/// otherwise only a legacy session has such a stream.
EraSession& UpstreamDispatch::side_without_origin() {
  return sides_.of(choice_.speaks_one_era() ? choice_.side_for(Era::legacy) : Era::legacy);
}

EraSession& UpstreamDispatch::side_of_message(std::optional<UpstreamId> origin,
                                              const Frame& frame) {
  if (const UpstreamId id = request_answered_by(frame, origin); id != UpstreamId{})
    return sender_of(id);
  if (const auto echo = own_.side_of_echo(frame)) return sides_.of(*echo);
  if (frame.is_notification()) {
    if (const auto own = own_.find_stream(stream_named_by(frame, origin)))
      return sides_.of(own->side);
  }
  return origin ? sender_of(*origin) : side_without_origin();
}

/// Logs once that the server returns ids or progress tokens in a spelling of its own.
void UpstreamDispatch::note_spelling(const Frame& frame) {
  if (says_other_spelling_) return;
  const std::string_view returned =
      frame.text(frame.is_response() ? frame.id : frame.progress_token);
  if (returned.find_first_not_of("0123456789") == returned.npos) return;
  const auto number = frame.is_request() ? std::nullopt : unsigned_by_value(returned);
  if (!number) return;
  says_other_spelling_ = true;
  log_.event(LogLevel::info, "other spelling of ids",
             "the upstream returns ids in another spelling, {} for {}: compared by value",
             printable(returned, 40), *number);
}

AnsweredRequests UpstreamDispatch::upstream_message(std::optional<UpstreamId> origin,
                                                    ReceivedText message) {
  AnsweredRequests answered;
  bool knows_session = false;
  if (sides_.legacy.has_ended()) return answered;
  tap_.passed(Passage::from_server, {}, message.bytes);
  const auto note_malformed = [&](std::string_view reason) {
    (origin ? sender_of(*origin) : side_without_origin()).note_malformed(origin, reason);
  };
  const auto frame_received = [&](ParsedFrame&& parsed) {
    if (const auto* wrong = std::get_if<FrameFault>(&parsed)) {
      const auto id =
          wrong->answers ? std::optional(static_cast<UpstreamId>(*wrong->answers)) : std::nullopt;
      if (id && (own_.find(*id) || events_->side_of(*id))) {
        // No other answer comes.
        EraSession& asker = sender_of(*id);
        asker.note_malformed(*id, wrong->reason);
        asker.forget_unsent(*id);
        asker.message_ended(*id, {.failure = {}, .something_came = true});
        answered.add(*id);
      } else {
        note_malformed(wrong->reason);
      }
      return;
    }
    Frame& frame = std::get<Frame>(parsed);
    note_spelling(frame);
    knows_session = knows_session || !frame.error.present();
    EraSession& receiver = side_of_message(origin, frame);
    answered.add(receiver.one_message(origin, std::move(frame)).value_or(UpstreamId{}));
  };
  if (!is_batch(message.bytes)) {
    frame_received(parse_received(std::move(message)));
  } else if (auto batch = parse_batch(message.bytes); std::holds_alternative<FrameFault>(batch)) {
    note_malformed(std::get<FrameFault>(batch).reason);
  } else {
    for (ParsedFrame& parsed : std::get<0>(batch)) frame_received(std::move(parsed));
  }
  // Afterwards, because answered messages must not be sent again.
  sides_.legacy.upstream_reachable(knows_session);
  sides_.modern.upstream_reachable(knows_session);
  return answered;
}

void UpstreamDispatch::message_ended(UpstreamId id, Ending ending) {
  if (sides_.legacy.has_ended()) return;
  const bool is_known = !ending.unanswered || own_.find(id);
  EraSession& sender =
      is_known ? sender_of(id)
               : sides_.of(ending.unanswered->notes.stateful ? Era::legacy : Era::modern);
  sender.message_ended(id, std::move(ending));
}

void UpstreamDispatch::upstream_reachable() {
  if (sides_.legacy.has_ended()) return;
  sides_.legacy.upstream_reachable(false);
  sides_.modern.upstream_reachable(false);
}

void UpstreamDispatch::upstream_lost_session() {
  sides_.legacy.upstream_lost_session();
  if (choice_.speaks_one_era()) sides_.modern.upstream_lost_session();
}

}  // namespace bridge
