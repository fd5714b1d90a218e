#include "session/opening.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "json/json_text.hpp"

namespace bridge {
namespace {

/// The opening goes on without the server stream.
constexpr std::chrono::seconds server_stream_timeout{1};
/// What is restored is worth less than the session: it does not keep it shut.
constexpr std::chrono::seconds restoring_timeout{5};
/// So many times --connect-wait, doubled so often: a server may be slow to start, but the
/// connection may also be dead without anybody saying so.
constexpr int initialize_timeout = 6;
constexpr int max_doublings = 4;

}  // namespace

Opening::Opening(EventLoop& loop, SessionSender& sender, Upstream& upstream, Log& log,
                 Events& events)
    : loop_(loop),
      sender_(sender),
      upstream_(upstream),
      log_(log),
      events_(events),
      timer_(loop, [this] { unanswered(); }),
      again_(loop, [this] { send_again(); }) {}

void Opening::begin(Outgoing initialize, std::chrono::milliseconds connect_wait) {
  const auto wait = std::max<std::chrono::milliseconds>(connect_wait, std::chrono::seconds(1));
  enter(Step::initialize,
        wait * (initialize_timeout << std::min(unanswered_tries_, max_doublings)));
  malformed_ = {};
  awaited_ = {initialize.id};
  upstream_.session_over();
  sender_.send(std::move(initialize));
}

void Opening::handshake_done(const std::string& protocol_version) {
  enter(Step::server_stream, server_stream_timeout);
  upstream_.session_opened(protocol_version);
}

void Opening::stop() {
  enter(Step::none, {});
  give_up_awaited();
}

void Opening::forget() {
  enter(Step::none, {});
  awaited_.clear();
}

bool Opening::is_echo(const Frame& frame) const {
  if (!is_initializing() || !frame.is_request() || frame.method != "initialize") return false;
  const auto id = to_unsigned(frame.text(frame.id));
  return id && awaits(static_cast<UpstreamId>(*id));
}

bool Opening::awaits(UpstreamId id) const {
  return std::find(awaited_.begin(), awaited_.end(), id) != awaited_.end();
}

void Opening::ended(UpstreamId id) {
  std::erase(awaited_, id);
  if (awaited_.empty() && !is_initializing()) next();
}

void Opening::server_stream_answered() {
  if (step_ == Step::server_stream) next();
}

void Opening::enter(Step step, std::optional<std::chrono::milliseconds> timeout) {
  step_ = step;
  put_off_.clear();
  again_.clear();
  if (timeout) {
    timeout_ = loop_.now() + *timeout;
    timer_.set(timeout_);
  } else {
    timer_.clear();
  }
}

void Opening::put_off(Outgoing message, std::chrono::milliseconds delay) {
  const SteadyTime until = loop_.now() + delay;
  if (until >= timeout_) {
    warn_of_loss("will not hear of them yet");
    ended(message.id);
    return;
  }
  put_off_.push_back({until, std::move(message)});
  again_.set_at_latest(until);
}

void Opening::send_again() {
  const SteadyTime now = loop_.now();
  for (PutOff& one : std::exchange(put_off_, {})) {
    if (one.until <= now) {
      sender_.send(std::move(one.message));
    } else {
      again_.set_at_latest(one.until);
      put_off_.push_back(std::move(one));
    }
  }
}

void Opening::warn_of_loss(std::string_view why) {
  log_.peer(LogLevel::warning, "session not restored",
            "{} {}, when {} restored in the new session; going on without", upstream_.target(), why,
            step_ == Step::log_level ? "the log level was" : "subscriptions were");
}

/// Enters the steps after the one that is over, up to one that has to wait for something.
void Opening::next() {
  switch (step_) {
    case Step::server_stream:
      enter(Step::initialized, {});
      awaited_ = {sender_.notify("notifications/initialized")};
      break;
    case Step::initialized: {
      enter(Step::log_level, restoring_timeout);
      const std::string level = events_.settings_to_restore().log_level_params;
      if (level.empty()) return next();
      awaited_ = {sender_.request("logging/setLevel", level)};
      break;
    }
    case Step::log_level:
      enter(Step::subscriptions, restoring_timeout);
      for (const std::string& uri : events_.settings_to_restore().subscriptions) {
        awaited_.push_back(
            sender_.request("resources/subscribe", fmt::format(R"({{"uri":{}}})", quote(uri))));
      }
      if (awaited_.empty()) return next();
      break;
    case Step::subscriptions:
      enter(Step::none, {});
      unanswered_tries_ = 0;
      events_.opening_done();
      break;
    case Step::none:
    case Step::initialize: break;
  }
}

void Opening::unanswered() {
  switch (step_) {
    case Step::initialize:
      // Asked again on another connection, as it only reads.
      ++unanswered_tries_;
      stop();
      events_.initialize_unanswered();
      break;
    case Step::server_stream: next(); break;
    case Step::log_level:
    case Step::subscriptions:
      warn_of_loss("did not answer");
      give_up_awaited();
      next();
      break;
    case Step::none:
    case Step::initialized: break;
  }
}

void Opening::give_up_awaited() {
  for (const UpstreamId id : std::exchange(awaited_, {})) upstream_.abandon(id);
}

}  // namespace bridge
