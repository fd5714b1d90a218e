#include "session/keep_alive.hpp"

#include <algorithm>
#include <utility>

#include "session/retries.hpp"

namespace bridge {
namespace {

/// Also with a short --connect-wait the ping has this long.
constexpr std::chrono::milliseconds shortest_timeout{1000};

}  // namespace

Doubts::Doubts(EventLoop& loop, SessionSender& sender, Upstream& upstream,
               std::function<void()> unanswered)
    : sender_(sender),
      upstream_(upstream),
      timer_(loop, [this, unanswered = std::move(unanswered)] {
        cancel();
        unanswered();
      }) {}

bool Doubts::remove(UpstreamId id) {
  return std::erase_if(doubts_, [id](const Ending& doubt) { return doubt.unanswered->id == id; }) !=
         0;
}

void Doubts::ask(std::chrono::milliseconds timeout) {
  if (is_asking()) return;
  question_ = sender_.ask_whether_there();
  timer_.set_after(std::max(timeout, shortest_timeout));
}

bool Doubts::ask_again(Ending& ending) {
  if (!ending.failure || !ending.unanswered ||
      !may_repeat_after(*ending.failure, *ending.unanswered))
    return false;
  ++ending.unanswered->notes.repeats;
  sender_.send(std::move(*ending.unanswered));
  return true;
}

std::vector<Ending> Doubts::take_all() {
  timer_.clear();
  question_ = UpstreamId{};
  return std::exchange(doubts_, {});
}

void Doubts::cancel() {
  timer_.clear();
  if (is_asking()) upstream_.abandon(std::exchange(question_, UpstreamId{}));
}

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
