// The opening of a modern session, and what a modern upstream says by itself.
#include <fmt/format.h>

#include <utility>

#include "json/reply.hpp"
#include "mcp/discovery.hpp"
#include "mcp/handshake.hpp"
#include "session/era_session.hpp"
#include "session/opening_failure.hpp"

namespace bridge {

void EraSession::probe_found_modern(std::string discover_result) {
  slow_.clear();
  kept_.server =
      ServerDescription::discovered(std::move(discover_result), std::string(upstream_.target()));
  record_.server_stream = ServerStream::off;
  owner_.era_found(era());
  if (initialize_.clients) answer_initialize();
  opening_done();
}

/// A client's `initialize`, which its server knows no longer or never did.
void EraSession::answer_initialize() {
  const UpstreamId id = std::exchange(initialize_.clients, std::nullopt)->id;
  const std::string asked = protocol_version_of(initialize_.params);
  auto response = parse_frame(
      result_reply(std::to_string(value_of(id)), kept_.server->initialize_result_for(asked)));
  events_->session_message(era(), std::nullopt, std::move(std::get<Frame>(response)));
}

void EraSession::probe_found_legacy(bool for_good, Failure refusal) {
  if (const auto failure = owner_.era_refused(era(), {for_good, std::move(refusal)}))
    turn_away(*failure);
}

void EraSession::probe_failed(Failure failure) {
  if (is_definitive(failure)) {
    turn_away(failure);
  } else {
    try_failed(std::move(failure));
  }
}

/// Whether it came on a stream of the session's own; what is for others is told.
bool EraSession::take_notification(std::optional<UpstreamId> origin, const Frame& notification) {
  std::optional<std::string> line;
  bool is_on_listen = false;
  if (const UpstreamId listen = listen_.stream_of(origin, notification); listen != UpstreamId{}) {
    upstream_.lift_deadline(listen);
    is_on_listen = true;
    line = listen_.take(listen, notification);
  } else if (const UpstreamId events = event_streams_.stream_of(origin, notification);
             events != UpstreamId{}) {
    upstream_.lift_deadline(events);
    line = event_streams_.take(events, notification);
  } else {
    return false;
  }
  if (!line) return true;
  auto parsed = parse_frame(std::move(*line));
  auto* const frame = std::get_if<Frame>(&parsed);
  if (frame != nullptr && is_on_listen) {
    events_->listen_told(std::move(*frame));
  } else if (frame != nullptr) {
    events_->session_message(era(), std::nullopt, std::move(*frame));
  }
  return true;
}

void EraSession::open_streams() {
  listen_.open();
  event_streams_.open();
}

void EraSession::close_streams() {
  listen_.close();
  event_streams_.close();
}

void EraSession::send_held(Outgoing message) {
  if (message.notes.stateful == is_modern()) events_->remake(message, era(), false);
  send(std::move(message));
}

void EraSession::listen_changed(ServerStream state) {
  record_.server_stream = state;
  // Refused: nothing more comes than is told already, for which nobody has to wait.
  if (state == ServerStream::none) events_->listen_acknowledged();
}

void EraSession::listen_resumed(const SubscriptionFilter& filter) {
  events_->listen_resumed(filter);
}

}  // namespace bridge
