// Of which era the upstream is, and what a modern one says by itself.
#include <fmt/format.h>

#include <utility>

#include "jsonrpc/reply.hpp"
#include "mcp/discovery.hpp"
#include "mcp/handshake.hpp"
#include "session/opening_failure.hpp"
#include "session/session.hpp"

namespace bridge {

bool Session::has_to_probe() const {
  if (!upstream_.may_be_modern() || options_.era == EraOption::legacy) return false;
  return options_.era == EraOption::modern || kept_.era != Era::legacy;
}

/// The server was taken for a legacy one, as it was before, and refuses as a modern one does: it is
/// asked. False if that is not so.
bool Session::ask_for_era_again(const Failure& refusal) {
  const auto error = error_of(refusal);
  if (!error || !(speaks_only_newer(error->text(error->error)) ||
                  contradicts(Era::legacy, refusal.status, &*error)))
    return false;
  if (probe_.is_under_way()) return true;  // it will tell
  if (probe_.was_asked() || options_.era == EraOption::legacy || !upstream_.may_be_modern())
    return false;
  kept_.era.reset();
  opening_.stop();
  start_try();
  return true;
}

/// If a server of the assumed era would not have refused so, the message counts as not delivered
/// and the session as lost: the next opening asks for the era.
void Session::note_other_era(Ending& ending) {
  if (options_.era != EraOption::automatic || !is_there()) return;
  Failure& failure = *ending.failure;
  const auto error = error_of(failure);
  const Era assumed = is_modern() ? Era::modern : Era::legacy;
  if (failure.status == 0 || !contradicts(assumed, failure.status, error ? &*error : nullptr))
    return;
  kept_.era.reset();
  failure.delivered = Delivered::no;
  ending.session = SessionVerdict::lost;
}

void Session::probe_found_modern(std::string discover_result) {
  opening_.stop();
  const bool was_legacy = kept_.era == Era::legacy;
  kept_.era = Era::modern;
  kept_.initialize_params = initialize_.params;
  kept_.server =
      ServerDescription::discovered(std::move(discover_result), std::string(upstream_.target()));
  record_.server_stream = ServerStream::off;
  if (was_legacy) {
    log_.peer(LogLevel::warning, "protocol version changed",
              "the upstream now speaks protocol version {}", newest_version);
  }
  upstream_.session_opened({std::string(newest_version), false});
  if (initialize_.clients) answer_initialize();
  opening_done();
}

/// A client's `initialize` that was to open the session: no server gets it.
void Session::answer_initialize() {
  const UpstreamId id = std::exchange(initialize_.clients, std::nullopt)->id;
  const std::string asked = protocol_version_of(initialize_.params);
  auto response = parse_frame(
      result_reply(std::to_string(value_of(id)), kept_.server->initialize_result_for(asked)));
  events_->session_message(std::nullopt, std::move(std::get<Frame>(response)));
}

void Session::probe_found_legacy(bool for_good) {
  if (options_.era == EraOption::modern) {
    refuse(definitive_failure_of(
        ErrorKind::session,
        fmt::format("the upstream does not speak MCP {} (--era modern)", newest_version)));
    return;
  }
  kept_.era = for_good ? std::optional(Era::legacy) : std::nullopt;
  if (!opening_.is_under_way()) send_initialize();
}

void Session::probe_is_slow() {
  if (options_.era == EraOption::automatic) send_initialize();
}

void Session::probe_failed(Failure failure) {
  if (opening_.is_under_way()) return;  // the initialize that was sent as well will tell
  if (is_definitive(failure)) {
    refuse(failure);
  } else {
    try_failed(std::move(failure));
  }
}

/// Whether it came on a stream of the session's own; what is for others is told.
bool Session::take_notification(std::optional<UpstreamId> origin, const Frame& notification) {
  std::optional<std::string> line;
  if (const UpstreamId listen = listen_.stream_of(origin, notification); listen != UpstreamId{}) {
    upstream_.lift_deadline(listen);
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
  if (auto* frame = std::get_if<Frame>(&parsed))
    events_->session_message(std::nullopt, std::move(*frame));
  return true;
}

void Session::open_streams() {
  listen_.open();
  event_streams_.open();
}

void Session::close_streams() {
  listen_.close();
  event_streams_.close();
}

void Session::send_held(Outgoing message) {
  if (message.notes.stateful == is_modern()) events_->remake(message, false);
  send(std::move(message));
}

void Session::listen_changed(ServerStream state) {
  record_.server_stream = state;
  // Refused: nothing more comes than is told already, for which nobody has to wait.
  if (state == ServerStream::none) events_->listen_acknowledged();
}

void Session::listen_resumed(const SubscriptionFilter& filter) { events_->listen_resumed(filter); }

}  // namespace bridge
