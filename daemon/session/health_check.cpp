#include "session/health_check.hpp"

#include <algorithm>
#include <utility>

#include "session/retries.hpp"

namespace bridge {
namespace {

/// A ping about doubts has at least this long, even with a short --connect-wait.
constexpr std::chrono::milliseconds shortest_timeout{1000};
/// A ping unanswered for this long means that the connections may be dead.
constexpr std::chrono::seconds ping_timeout{15};

}  // namespace

HealthCheck::HealthCheck(EventLoop& loop, SessionSender& sender, Upstream& upstream, Log& log,
                         const SessionOptions& options, std::function<void()> unanswered)
    : loop_(loop),
      sender_(sender),
      upstream_(upstream),
      log_(log),
      options_(options),
      unanswered_(std::move(unanswered)),
      timer_(loop, [this] { expired(); }) {}

void HealthCheck::watch() {
  if (checks_suspected_ || sender_.is_modern()) return;
  if (options_.keepalive.count() > 0) {
    timer_.set(sender_.last_sent() + options_.keepalive);
  } else {
    timer_.clear();
  }
}

void HealthCheck::stop() {
  if (!checks_suspected_) timer_.clear();
}

void HealthCheck::cancel() {
  if (is_pinging()) sender_.abandon(ping_);
  ping_ended();
  timer_.clear();
}

void HealthCheck::ping() {
  if (is_pinging()) return;
  // A modern server has no `ping`.
  ping_ = sender_.request(MessageOwner::health, sender_.is_modern() ? "server/discover" : "ping");
  sent_ = loop_.now();
}

void HealthCheck::ping_until_answered() {
  ping();
  timer_.set(sent_ + ping_timeout);
}

void HealthCheck::check_suspected() {
  if (checks_suspected_) return;
  cancel();  // a ping sent before the refusal is not evidence
  ping();
  checks_suspected_ = true;
  timer_.set(sent_ + std::max(options_.connect_wait, shortest_timeout));
}

bool HealthCheck::ping_ended() {
  ping_ = UpstreamId{};
  return std::exchange(checks_suspected_, false);
}

bool HealthCheck::remove(UpstreamId id) {
  return std::erase_if(suspected_,
                       [id](const Ending& doubt) { return doubt.unanswered->id == id; }) != 0;
}

bool HealthCheck::repeat(Ending& ending) {
  if (!checks_suspected_ || !ending.failure || !ending.unanswered ||
      !may_repeat_after(*ending.failure, *ending.unanswered))
    return false;
  ++ending.unanswered->notes.repeats;
  sender_.send(std::move(*ending.unanswered));
  return true;
}

// One ping at a time: its end sets the timer for the next one.
void HealthCheck::expired() {
  const auto now = loop_.now();
  if (checks_suspected_) {
    cancel();
    unanswered_();
  } else if (is_pinging() && now < sent_ + ping_timeout) {
    timer_.set(sent_ + ping_timeout);
  } else if (is_pinging()) {
    log_.peer(LogLevel::warning, "ping unanswered",
              "the upstream has not answered a ping for {} s: reconnecting", ping_timeout.count());
    cancel();
    upstream_.refresh_connections();
    timer_.set(now + options_.keepalive);
  } else if (now - sender_.last_sent() >= options_.keepalive) {
    ping_until_answered();
  } else {
    watch();
  }
}

}  // namespace bridge
