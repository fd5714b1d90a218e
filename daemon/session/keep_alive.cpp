#include "session/keep_alive.hpp"

#include <utility>

namespace bridge {
namespace {

/// A ping without an answer for so long says that the connections may be dead.
constexpr std::chrono::seconds ping_timeout{15};

}  // namespace

KeepAlive::KeepAlive(EventLoop& loop, SessionSender& sender, Upstream& upstream, Log& log,
                     std::chrono::milliseconds interval)
    : loop_(loop),
      sender_(sender),
      upstream_(upstream),
      log_(log),
      interval_(interval),
      timer_(loop, [this] { expired(); }) {}

void KeepAlive::watch() {
  if (interval_.count() > 0) {
    timer_.set(sender_.last_sent() + interval_);
  } else {
    timer_.clear();
  }
}

void KeepAlive::cancel() {
  stop();
  if (is_pinging()) upstream_.abandon(std::exchange(ping_, UpstreamId{}));
}

void KeepAlive::ping() {
  if (is_pinging()) return;
  ping_ = sender_.ask_whether_there();
  sent_ = loop_.now();
}

void KeepAlive::ping_at_once() {
  ping();
  timer_.set(sent_ + ping_timeout);
}

// One ping at a time: its end sets the timer for the next one.
void KeepAlive::expired() {
  const auto now = loop_.now();
  if (is_pinging() && now < sent_ + ping_timeout) {
    timer_.set(sent_ + ping_timeout);
  } else if (is_pinging()) {
    log_.peer(LogLevel::warning, "ping unanswered",
              "the upstream has not answered a ping for {} s: connections are made anew",
              ping_timeout.count());
    upstream_.abandon(std::exchange(ping_, UpstreamId{}));
    upstream_.refresh_connections();
    timer_.set(now + interval_);
  } else if (now - sender_.last_sent() >= interval_) {
    ping();
    timer_.set(sent_ + ping_timeout);
  } else {
    watch();
  }
}

}  // namespace bridge
