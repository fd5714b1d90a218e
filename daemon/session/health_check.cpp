#include "session/health_check.hpp"

#include <algorithm>
#include <utility>

#include "session/retries.hpp"
#include "session/session_doubt.hpp"

namespace bridge {
namespace {

/// The longest check, and the shortest times between two.
constexpr std::chrono::seconds check_time{5};
constexpr std::chrono::seconds after_change{2};
constexpr std::chrono::seconds after_nothing{30};
/// A server that refuses messages is asked this often whether it still does.
constexpr std::chrono::seconds between_pings_if_refused{60};
/// A ping unanswered for this long means that the connections may be dead.
constexpr std::chrono::seconds ping_timeout{15};

}  // namespace

HealthCheck::HealthCheck(EventLoop& loop, SessionSender& sender, Upstream& upstream, Log& log,
                         const SessionOptions& options, const SessionRecord& record,
                         SessionDoubt& doubt)
    : loop_(loop),
      sender_(sender),
      upstream_(upstream),
      log_(log),
      options_(options),
      record_(record),
      doubt_(doubt),
      timer_(loop, [this] { expired(); }) {}

void HealthCheck::watch() {
  if (checks_suspected_ || sender_.is_modern()) return;
  if (const auto interval = interval_of_pings(); interval.count() > 0) {
    timer_.set(sender_.last_sent() + interval);
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

bool HealthCheck::check_suspected() {
  if (is_checking_) return true;
  if (!may_check()) return false;
  cancel();  // a ping sent before the refusal is not evidence
  begin_check();
  ping();
  checks_suspected_ = true;
  timer_.set(check_ends_);
  return true;
}

void HealthCheck::begin_check() {
  is_checking_ = true;
  check_ends_ = loop_.now() + check_time;
}

void HealthCheck::check_ended(bool has_changed_something) {
  if (!std::exchange(is_checking_, false)) return;
  next_check_ = loop_.now() + (has_changed_something ? after_change : after_nothing);
}

std::chrono::milliseconds HealthCheck::interval_of_pings() const {
  const bool is_refused = record_.last_failure.has_value();
  if (!is_refused ||
      (options_.keepalive.count() > 0 && options_.keepalive < between_pings_if_refused))
    return options_.keepalive;
  return between_pings_if_refused;
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
    doubt_.ping_unanswered();
  } else if (is_pinging() && now < sent_ + ping_timeout) {
    timer_.set(sent_ + ping_timeout);
  } else if (is_pinging()) {
    log_.peer(LogLevel::warning, "ping unanswered",
              "the upstream has not answered a ping for {} s: reconnecting", ping_timeout.count());
    cancel();
    upstream_.refresh_connections();
    timer_.set(now + interval_of_pings());
  } else if (now - sender_.last_sent() >= interval_of_pings()) {
    ping_until_answered();
  } else {
    watch();
  }
}

}  // namespace bridge
