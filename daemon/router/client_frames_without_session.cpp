// What clients' frames do while there is no session: what opens one, how long they wait for it, and
// what becomes of them.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "router/client_frames.hpp"

namespace bridge {

using namespace std::string_view_literals;

/// There is no session: only a request opens one, and a notification waits for that.
bool ClientFrames::start_without_session(Client& client) {
  Session& session = context_.session;
  const Era era = client.era_of(client.waiting.front().frame);
  if (context_.options.handshake != Handshake::client || session.server_for(era) != nullptr ||
      session.is_coming() || era == Era::modern) {
    if (client.waiting.has_request()) session.require(era);
    return false;
  }
  const Frame refused = client.waiting.take_front().frame;
  if (refused.is_request()) {
    refuse(client, refused,
           failure_of(ErrorKind::not_initialized, Delivered::no, "session not initialized"));
  }
  return true;
}

void ClientFrames::session_open() {
  if (const auto failed = std::exchange(unserved_, 0); failed > 0) {
    context_.log.peer(LogLevel::info, "requests served",
                      "there is a session again; {} requests have failed without one", failed);
  }
  notifications_.session_open();
  pass_slots_on();
  for (const auto& [id, client] : context_.clients) start_waiting(*client);
  expiry_.clear();
  expire();  // the other side may not be open
}

void ClientFrames::session_closed(Era side) {
  not_open_since_[static_cast<std::size_t>(side)] = context_.loop.now();
  for (const auto& [id, client] : context_.clients) start_waiting(*client);
}

void ClientFrames::session_away(Era side) {
  const SteadyTime now = context_.loop.now();
  not_open_since_[static_cast<std::size_t>(side)] = now;
  expiry_.set_at_latest(now + context_.session_timeout());
}

void ClientFrames::session_awaits_login() { expiry_.set_at_latest(context_.loop.now()); }

/// When a frame has waited for too long for its session, which is not open.
SteadyTime ClientFrames::expires(const WaitingFrame& waiting, Era client) const {
  const Era side = context_.session.side_for(client);
  return std::max(waiting.since, not_open_since_[static_cast<std::size_t>(side)]) +
         context_.session_timeout();
}

/// Says so once, until there is a session; the status and the metrics count all of them.
void ClientFrames::note_unserved(const Frame& refused, const Failure& failure) {
  if (!refused.is_request() || ++unserved_ > 1) return;
  context_.log.peer(LogLevel::warning, "requests fail",
                    "requests fail until there is a session: {}", log_text(failure));
}

/// Answers those who have waited for a session for longer than it may take.
void ClientFrames::expire() {
  const auto timeout = context_.session_timeout();
  const auto failure_for = [&](Era client) {
    const Session& session = context_.session;
    const auto& last = session.side(session.side_for(client)).last_failure();
    Failure failure =
        last ? *last
             : session.last_failure().value_or(failure_of(ErrorKind::timeout, Delivered::no,
                                                          "the upstream has not opened a session"));
    failure.delivered = Delivered::no;
    failure.message += fmt::format(" (waited {} ms, {})", timeout.count(),
                                   session.login_wait() ? "--login-wait" : "--connect-wait");
    return failure;
  };

  const SteadyTime now = context_.loop.now();
  if (const auto next = in_flight_.expire_initialize(failure_for(Era::legacy)))
    expiry_.set_at_latest(*next);
  for (const auto& [id, client] : context_.clients) {
    if (!served_.is_served(*client)) continue;
    while (!client->waiting.empty() && !is_open_for(*client, client->waiting.front().frame)) {
      const Era era = client->era_of(client->waiting.front().frame);
      const SteadyTime due = expires(client->waiting.front(), era);
      if (due > now) {
        expiry_.set_at_latest(due);
        break;
      }
      const Failure failure = failure_for(era);
      const Frame refused = client->waiting.take_front().frame;
      note_unserved(refused, failure);
      refuse(*client, refused, failure);
    }
    context_.clients.finish_if_done(*client);
  }
  if (notifications_.expire()) expiry_.set_at_latest(now + timeout);
}

}  // namespace bridge
