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
  if (context_.options.handshake != Handshake::client || session.server() != nullptr ||
      session.is_coming() || client.waiting.front().frame.is_modern()) {
    if (client.waiting.has_request()) session.require();
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
  expiry_.clear();
  if (const auto failed = std::exchange(unserved_, 0); failed > 0) {
    context_.log.peer(LogLevel::info, "requests served",
                      "there is a session again; {} requests have failed without one", failed);
  }
  notifications_.session_open();
  pass_slots_on();
  for (const auto& [id, client] : context_.clients) start_waiting(*client);
}

void ClientFrames::session_closed() {
  not_open_since_ = context_.loop.now();
  for (const auto& [id, client] : context_.clients) start_waiting(*client);
}

void ClientFrames::session_away() {
  not_open_since_ = context_.loop.now();
  expiry_.set_at_latest(not_open_since_ + context_.session_timeout());
}

void ClientFrames::session_awaits_login() {
  if (!context_.session.is_open()) expiry_.set_at_latest(context_.loop.now());
}

/// Says so once, until there is a session; the status and the metrics count all of them.
void ClientFrames::note_unserved(const Frame& refused, const Failure& failure) {
  if (!refused.is_request() || ++unserved_ > 1) return;
  context_.log.peer(LogLevel::warning, "requests fail",
                    "requests fail until there is a session: {}", log_text(failure));
}

/// Answers those who have waited for a session for longer than it may take.
void ClientFrames::expire() {
  if (context_.session.is_open()) return;
  const auto timeout = context_.session_timeout();
  Failure failure = context_.session.last_failure().value_or(
      failure_of(ErrorKind::timeout, Delivered::no, "the upstream has not opened a session"));
  failure.delivered = Delivered::no;
  failure.message += fmt::format(" (waited {} ms, {})", timeout.count(),
                                 context_.session.login_wait() ? "--login-wait" : "--connect-wait");

  const SteadyTime now = context_.loop.now();
  if (const auto next = in_flight_.expire_initialize(failure)) expiry_.set_at_latest(*next);
  for (const auto& [id, client] : context_.clients) {
    if (!served_.is_served(*client)) continue;
    while (!client->waiting.empty()) {
      const SteadyTime due = std::max(client->waiting.front().since, not_open_since_) + timeout;
      if (due > now) {
        expiry_.set_at_latest(due);
        break;
      }
      const Frame refused = client->waiting.take_front().frame;
      note_unserved(refused, failure);
      refuse(*client, refused, failure);
    }
    context_.clients.finish_if_done(*client);
  }
  if (notifications_.expire()) expiry_.set_at_latest(now + timeout);
}

}  // namespace bridge
