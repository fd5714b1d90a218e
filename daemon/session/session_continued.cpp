// A session that outlives the daemon, or an image of its program: what of it is kept, and how the
// next one goes on.
#include <fmt/format.h>

#include <utility>

#include "session/session.hpp"

namespace bridge {

KeptSession Session::kept() const {
  KeptSession kept = kept_;
  kept.settings = events_->settings();
  kept.ids = sender_.ids();
  return kept;
}

void Session::continue_from(KeptSession kept) {
  events_->take_settings(kept.settings);
  sender_.ids() = kept.ids;
  kept_ = std::move(kept);
  kept_.settings = {};  // they are the router's
  loss_ = ReopeningReason::restarted;
}

void Session::take_up(KeptSession kept, const SessionReference& reference) {
  continue_from(std::move(kept));
  // A modern server has no session: whether it is there is asked by the probe of an opening.
  if (is_modern() ||
      !upstream_.session_continued({kept_.server->protocol_version(), true}, reference)) {
    require();
    return;
  }
  phase_ = Phase::taking_up;
  record_.server_stream = ServerStream::waiting;
  retries_.begin_try();
  keep_alive_.ping_at_once();
}

KeptStreams Session::streams_to_keep() const {
  if (!is_modern() || !is_there()) return {};
  return {listen_.had_stream(), value_of(listen_.acknowledged_stream()), event_streams_.to_keep()};
}

void Session::go_on_in(KeptSession kept, const SessionReference& reference,
                       const KeptStreams& streams) {
  continue_from(std::move(kept));
  const SessionForm form{kept_.server->protocol_version(), !is_modern()};
  if (is_modern()) {
    upstream_.session_opened(form);
  } else if (!upstream_.session_continued(form, reference)) {
    require();
    return;
  }
  phase_ = Phase::open;
  record_.opened_at = loop_.now();
  if (is_modern()) {
    const bool still_open = !upstream_.has_answer_streams();
    if (streams.had_listen)
      listen_.go_on_after(still_open ? static_cast<UpstreamId>(streams.listen) : UpstreamId{});
    event_streams_.go_on_after(streams.events, still_open);
    open_streams();
  } else {
    record_.server_stream = ServerStream::waiting;
    keep_alive_.watch();
  }
}

/// The server knows the session of the daemon before.
void Session::taken_up() {
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
void Session::not_taken_up(const Failure& failure) {
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
    events_->session_refused(failure);
  }
  retries_.try_failed(somebody_waits());
}

}  // namespace bridge
