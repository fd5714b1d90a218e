#include "session/opening.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/log.hpp"
#include "json/json_object.hpp"
#include "mcp/handshake.hpp"
#include "session/session_events.hpp"
#include "session/session_opener.hpp"
#include "text/visible_text.hpp"

namespace bridge {

Failure failure_of_opening(Failure failure) {
  failure.opening = true;
  if (failure.error_object.empty()) return failure;
  failure.summary = log_text(failure);
  failure.kind = ErrorKind::session;
  failure.upstream_error = std::exchange(failure.error_object, std::string());
  failure.message = "the upstream refuses to initialize a session";
  return failure;
}

std::optional<Frame> error_of(const Failure& failure) {
  const std::string& error =
      failure.error_object.empty() ? failure.upstream_error : failure.error_object;
  if (error.empty()) return std::nullopt;
  auto parsed = parse_frame(
      json_rpc_message().add("id", RawJson{"null"}).add("error", RawJson{error}).text());
  auto* frame = std::get_if<Frame>(&parsed);
  return frame != nullptr ? std::optional(std::move(*frame)) : std::nullopt;
}

bool is_definitive(const Failure& failure) {
  if (failure.definitive || !failure.error_object.empty()) return true;
  return failure.status >= 400 && failure.status < 500 && failure.status != 429;
}

namespace {

/// The opening continues without the server stream.
constexpr std::chrono::seconds server_stream_timeout{1};
/// Restoring must not delay the session for longer: the answers that are awaited, and the sending
/// of further subscriptions, which may be thousands.
constexpr std::chrono::seconds restoring_timeout{5};
constexpr std::chrono::seconds sending_time{1};
/// This many times --connect-wait, and doubled this often: a server may be slow to start, but the
/// connection may also be silently dead.
constexpr int initialize_timeout = 6;
constexpr int max_doublings = 4;

}  // namespace

Opening::Opening(EventLoop& loop, SessionSender& sender, Upstream& upstream, Log& log,
                 SessionOpener& opener)
    : loop_(loop),
      sender_(sender),
      upstream_(upstream),
      log_(log),
      opener_(opener),
      timer_(loop, [this] { unanswered(); }),
      again_(loop, [this] { send_again(); }) {}

void Opening::probe(std::chrono::milliseconds wait) {
  enter(Step::probe, wait);
  closed_connections_ = 0;
  awaited_ = {sender_.probe()};
}

void Opening::begin_initialize(Outgoing initialize, std::chrono::milliseconds connect_wait) {
  const auto wait = std::max<std::chrono::milliseconds>(connect_wait, std::chrono::seconds(1));
  enter(Step::initialize,
        wait * (initialize_timeout << std::min(unanswered_tries_, max_doublings)));
  malformed_ = {};
  awaited_ = {initialize.id};
  sender_.send(std::move(initialize));
}

void Opening::handshake_done(const std::string& protocol_version) {
  enter(Step::server_stream, server_stream_timeout);
  upstream_.session_opened({.version = protocol_version});
}

void Opening::stop() {
  enter(Step::none, {});
  give_up_awaited();
}

void Opening::forget() {
  enter(Step::none, {});
  awaited_.clear();
}

bool Opening::note_ended_run(const Failure& failure) {
  const bool has_ended = upstream_.kind() == "stdio" &&
                         (failure.kind == ErrorKind::closed || failure.kind == ErrorKind::connect);
  if (has_ended) ++ended_runs_;
  return has_ended && ended_runs_ > 1;
}

bool Opening::awaits(UpstreamId id) const {
  return std::find(awaited_.begin(), awaited_.end(), id) != awaited_.end();
}

void Opening::ended(UpstreamId id) {
  std::erase(awaited_, id);
  has_restored_ = true;
  restore_more();
  if (awaited_.empty() && !is_initializing()) next();
}

void Opening::restore_more() {
  if (step_ != Step::subscriptions || loop_.now() >= timeout_ - restoring_timeout + sending_time)
    return;
  while (!to_restore_.empty() && awaited_.size() < own_requests_at_once) {
    awaited_.push_back(sender_.request(MessageOwner::opening, "resources/subscribe",
                                       JsonObject().add("uri", to_restore_.front()).text()));
    to_restore_.pop_front();
  }
}

void Opening::server_stream_answered() {
  if (step_ == Step::server_stream) next();
}

void Opening::enter(Step step, std::optional<std::chrono::milliseconds> timeout) {
  if (step != Step::none) to_restore_.clear();
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

/// Starts the following steps, up to one that must wait.
void Opening::next() {
  switch (step_) {
    case Step::server_stream:
      enter(Step::initialized, {});
      awaited_ = {sender_.notify("notifications/initialized", {}, MessageOwner::opening)};
      break;
    case Step::initialized: {
      enter(Step::log_level, restoring_timeout);
      const std::string level = opener_.settings_to_restore().log_level_params;
      if (level.empty()) return next();
      awaited_ = {sender_.request(MessageOwner::opening, "logging/setLevel", level)};
      break;
    }
    case Step::log_level:
      enter(Step::subscriptions, restoring_timeout);
      has_restored_ = false;
      for (std::string& uri : opener_.settings_to_restore().subscriptions)
        to_restore_.push_back(std::move(uri));
      restore_more();
      if (awaited_.empty()) return next();
      break;
    case Step::subscriptions:
      enter(Step::none, {});
      unanswered_tries_ = 0;
      opener_.opening_done(std::exchange(to_restore_, {}));
      break;
    case Step::none:
    case Step::probe:
    case Step::initialize: break;
  }
}

void Opening::unanswered() {
  switch (step_) {
    case Step::initialize:
      // Repeated on another connection, because it only reads.
      ++unanswered_tries_;
      stop();
      opener_.opening_failed(
          failure_of(ErrorKind::timeout, Delivered::no, "the upstream does not answer initialize"));
      break;
    case Step::probe:
      stop();
      opener_.opening_failed(failure_of(ErrorKind::timeout, Delivered::no,
                                        "the upstream does not answer server/discover"));
      break;
    case Step::server_stream: next(); break;
    case Step::log_level:
    case Step::subscriptions:
      // If the server is only slow, the rest follows while clients are served.
      if (to_restore_.empty() || !has_restored_) {
        warn_of_loss("did not answer");
        to_restore_.clear();
      }
      give_up_awaited();
      next();
      break;
    case Step::none:
    case Step::initialized: break;
  }
}

void Opening::give_up_awaited() {
  for (const UpstreamId id : std::exchange(awaited_, {})) sender_.abandon(id);
}

namespace {

/// Reasons for a modern server's error; any of them is possible.
constexpr std::string_view unknown_server =
    R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"resources":{},"prompts":{}}})";

/// For a server whose answer does not conform to 2026-07-28.
Failure failure_of_discovery(const Frame& response) {
  Failure failure = definitive_failure_of(
      ErrorKind::session,
      "the upstream does not answer server/discover as MCP 2026-07-28 requires");
  failure.upstream_error = std::string(response.text(response.error));
  return failure;
}

}  // namespace

ProbeFailure Opening::failure_of_probe(const Failure& failure) const {
  if (failure.status != 0 || failure.kind == ErrorKind::malformed) return ProbeFailure::none;
  const bool is_child = !upstream_.has_answer_streams();
  if (is_child && failure.kind == ErrorKind::closed) return ProbeFailure::child_ended;
  if (failure.delivered == Delivered::no) return ProbeFailure::not_delivered;
  return failure.kind == ErrorKind::closed ? ProbeFailure::connection_closed
                                           : ProbeFailure::no_answer;
}

void Opening::probe_answered(const Frame& response) {
  ProbeAnswer answer;
  answer.response = &response;
  judge(answer, failure_of_discovery(response), std::string(response.text(response.result)));
}

void Opening::probe_ended(const Ending& ending) {
  ProbeAnswer answer;
  answer.closed_connections = closed_connections_;
  Failure failure = ending.failure.value_or(
      failure_of(ErrorKind::closed, Delivered::unknown, "the upstream's answer is empty"));
  answer.status = failure.status;
  const std::optional<Frame> response = error_of(failure);
  answer.response = response ? &*response : nullptr;
  if (ending.failure) answer.failure = failure_of_probe(failure);
  if (answer.failure == ProbeFailure::connection_closed) ++answer.closed_connections;
  closed_connections_ = answer.closed_connections;
  judge(answer, std::move(failure), {});
}

void Opening::judge(const ProbeAnswer& answer, Failure failure, std::string result) {
  const Judgement judgement = judge_probe(answer);
  if (judgement.verdict == ProbeVerdict::undecided &&
      answer.failure == ProbeFailure::connection_closed) {
    awaited_ = {sender_.probe()};
    return;
  }
  forget();
  switch (judgement.verdict) {
    case ProbeVerdict::modern:
      opener_.probe_found_modern(result.empty() ? std::string(unknown_server) : std::move(result));
      break;
    case ProbeVerdict::legacy:
    case ProbeVerdict::legacy_for_this_session:
      opener_.probe_found_legacy(judgement.verdict == ProbeVerdict::legacy, std::move(failure));
      break;
    case ProbeVerdict::refused:
      opener_.opening_failed(definitive_failure_of(ErrorKind::session, judgement.text));
      break;
    case ProbeVerdict::undecided: opener_.opening_failed(failure); break;
  }
}

}  // namespace bridge
