// A session that outlives the daemon, or an image of its program: what of it is kept, and how the
// next one goes on.
#include <fmt/format.h>

#include <utility>

#include "mcp/handshake.hpp"
#include "session/era_session.hpp"

namespace bridge {

void EraSession::continue_from(Kept kept) {
  kept_ = std::move(kept);
  loss_ = ReopeningReason::restarted;
}

void EraSession::take_up(const SessionReference& reference) {
  if (!upstream_.session_continued(kept_.server->protocol_version(), reference)) {
    require();
    return;
  }
  phase_ = Phase::taking_up;
  record_.server_stream = ServerStream::waiting;
  retries_.begin_try();
  keep_alive_.ping_at_once();
}

SavedStreams EraSession::save_streams() const {
  SavedStreams streams;
  if (!is_modern() || !is_there()) return streams;
  streams.had_listen = listen_.had_stream();
  streams.listen = listen_.acknowledged_stream();
  streams.events = event_streams_.save();
  return streams;
}

void EraSession::restore_in(const SessionReference& reference, const SavedStreams& streams) {
  if (is_modern()) {
    upstream_.set_stateless_version(newest_version);
  } else if (!upstream_.session_continued(kept_.server->protocol_version(), reference)) {
    require();
    return;
  }
  phase_ = Phase::open;
  record_.opened_at = loop_.now();
  if (is_modern()) {
    const bool still_open = !upstream_.has_answer_streams();
    if (streams.had_listen) listen_.go_on_after(still_open ? streams.listen : UpstreamId{});
    event_streams_.go_on_after(streams.events, still_open);
    open_streams();
  } else {
    record_.server_stream = ServerStream::waiting;
    keep_alive_.watch();
  }
}

/// The server knows the session of the daemon before.
void EraSession::taken_up() {
  phase_ = Phase::open;
  record_.opened_at = loop_.now();
  record_.last_failure.reset();
  retries_.clear_try();
  retries_.forget_failures();
  log_.peer(LogLevel::info, "session taken up", "the session with {} is still there: taken up",
            upstream_.target());
  keep_alive_.watch();
  for (const UpstreamId id : std::exchange(kept_.unanswered, {})) {
    sender_.notify(
        "notifications/cancelled",
        fmt::format(R"({{"requestId":{},"reason":"the client is gone"}})", value_of(id)));
  }
  retries_.send_ready();
  events_->session_open();
}

/// The server was reached, but says neither that it knows the session nor that it does not.
void EraSession::not_taken_up(const Failure& failure) {
  const bool may_pass = failure.status == 401 || failure.status == 403 || failure.status == 408 ||
                        failure.status == 429 || failure.status < 400 || failure.status >= 500;
  if (!may_pass) {
    lose("a ping in it was refused");
    return;
  }
  record_.last_failure = failure;
  events_->session_failed(failure);
  if (awaits_login()) {
    events_->session_awaits_login();
  } else if (failure.kind == ErrorKind::auth) {
    events_->session_refused(era(), failure);
  }
  retries_.try_failed(somebody_waits());
}

}  // namespace bridge
