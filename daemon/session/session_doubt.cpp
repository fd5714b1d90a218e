#include "session/session_doubt.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <variant>

#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "session/era_choice.hpp"
#include "session/era_session.hpp"
#include "upstream/lost_session_text.hpp"

namespace bridge {
namespace {

/// How often, and how soon, `initialize` is repeated during a check.
constexpr int max_repeated_checks = 2;
constexpr std::chrono::milliseconds between_repeated_checks{500};

/// Some servers do not know `ping`, but know the session it came in.
bool refuses_ping(const Frame& answer) {
  if (!answer.error.present()) return false;
  return find_member(answer.text(answer.error), "code") !=
         std::to_string(json_rpc::method_not_found);
}

Failure failure_of_refused_ping(const Frame& answer) {
  Failure failure = failure_of(ErrorKind::session, Delivered::no, "the upstream refuses a ping");
  failure.upstream_error = std::string(answer.text(answer.error));
  return failure;
}

}  // namespace

SessionDoubt::SessionDoubt(EventLoop& loop, EraSession& session, HealthCheck& health)
    : loop_(loop),
      session_(session),
      health_(health),
      check_time_(loop, [this] { check_time_over(); }) {}

SessionVerdict SessionDoubt::judge_unclear(UpstreamId id, SessionVerdict verdict) {
  if (verdict != SessionVerdict::unclear) return verdict;
  const bool is_second = unclear_ && (*unclear_ != id || id == UpstreamId{});
  unclear_ = id;
  return is_second || health_.is_checking() ? SessionVerdict::doubtful : SessionVerdict::kept;
}

void SessionDoubt::suspect(Ending ending) {
  health_.suspect(std::move(ending));
  if (session_.has_session()) {
    check_session();
  } else if (!other_session_) {
    resolve_suspected(true);  // a new session is being opened and decides
  }
}

bool SessionDoubt::denies_session(const Frame& response) const {
  return response.error.present() && !session_.is_modern() && session_.upstream_.names_session() &&
         says_session_is_missing(response.text(response.error));
}

bool SessionDoubt::holds_response(UpstreamId id, const Frame& response) {
  // While the upstream is away this message shows that it is back, and then the check begins.
  if (!(session_.has_session() || other_session_) ||
      !(health_.may_check() || health_.is_checking()))
    return false;
  std::optional<Outgoing> request = session_.upstream_.take_back(id);
  if (!request) {
    check_session();
    return false;
  }
  Ending ending;
  ending.failure =
      failure_of(ErrorKind::session, Delivered::no, "the upstream says that it has no session");
  ending.failure->error_object = std::string(response.text(response.error));
  ending.session = SessionVerdict::doubtful;
  ending.unanswered = std::move(request);
  ending.response = response.bytes;
  suspect(std::move(ending));
  return true;
}

void SessionDoubt::check_session() {
  if (session_.is_open() && !health_.check_suspected()) resolve_suspected(false);
}

// The refusals stand: the session was not shown to be lost. They wait for the ping no longer than
// for a session.
void SessionDoubt::ping_unanswered() {
  health_.check_ended(false);
  resolve_suspected(false);
  if (session_.is_open()) health_.watch();
}

void SessionDoubt::resolve_suspected(bool lost) {
  for (Ending& ending : health_.take_suspected()) {
    if (!lost && !ending.response.empty()) {
      auto response = parse_frame(std::move(ending.response));
      session_.events_->message_received(session_.era(), ending.unanswered->id,
                                         std::move(std::get<Frame>(response)));
      continue;
    }
    ending.session = lost ? SessionVerdict::lost : SessionVerdict::kept;
    session_.loss_.message_failed(std::move(ending));
  }
}

/// A ping was refused, for whatever reason: if the server opens another session, this one is lost.
/// Without a session that outlives its streams nothing can be kept meanwhile.
void SessionDoubt::try_another_session(Failure refusal) {
  if (!session_.upstream_.session_reference()) {
    resolve_suspected(true);
    session_.loss_.lose("a ping in it was refused");
    return;
  }
  if (!health_.is_checking()) {
    if (!health_.may_check()) {
      session_.loss_.not_resumed(refusal);
      return;
    }
    health_.begin_check();
  }
  if (session_.is_open()) session_.events_->session_away(session_.era());
  other_session_ = {session_.is_open(), std::move(refusal)};
  check_time_.set(health_.check_ends());
  session_.opener_.forget_initialize();
  session_.opener_.start_try();
}

void SessionDoubt::another_session_failed() {
  if (++other_session_->failures > max_repeated_checks) {
    another_session_refused();
    return;
  }
  session_.opener_.stop_try();
  check_time_.set(std::min(health_.check_ends(), loop_.now() + between_repeated_checks));
}

void SessionDoubt::check_time_over() {
  if (session_.opening_.is_under_way() || loop_.now() >= health_.check_ends()) {
    another_session_refused();
    return;
  }
  check_time_.set(health_.check_ends());
  session_.opener_.start_try();
}

void SessionDoubt::another_session_opened() {
  if (other_session_->was_open) session_.loss_reason_ = ReopeningReason::lost;
  other_session_.reset();
  check_time_.clear();
  health_.check_ended(true);
  unclear_.reset();
  session_.log_.peer(LogLevel::warning, "session lost",
                     "session with {} lost: requests in it were refused; opening it again",
                     session_.upstream_.target());
  session_.choice_.era_lost(session_.era());
  resolve_suspected(true);
}

void SessionDoubt::another_session_refused() {
  const OtherSession other = *std::exchange(other_session_, std::nullopt);
  check_time_.clear();
  session_.opener_.stop_try();
  session_.opener_.forget_initialize();
  session_.phase_ = other.was_open ? EraSession::Phase::open : EraSession::Phase::resuming;
  health_.check_ended(false);
  if (!other.was_open) {
    session_.loss_.not_resumed(other.refusal);
    resolve_suspected(false);
    return;
  }
  session_.loss_.note_failure(other.refusal);
  session_.loss_.log_refusal(other.refusal);
  health_.watch();
  resolve_suspected(false);
  session_.retries_.send_ready();
  session_.events_->session_open();
}

void SessionDoubt::ping_answered(const Frame& frame) {
  const bool checks_suspected = health_.ping_ended();
  // A modern server answers `server/discover` with a result.
  if (checks_suspected && session_.is_modern() && frame.error.present()) {
    session_.choice_.era_contradicted(session_.era());
    resolve_suspected(true);
    session_.loss_.lose("the server speaks another era now");
    return;
  }
  if (!session_.is_modern() && refuses_ping(frame)) {
    if (checks_suspected || session_.phase_ == EraSession::Phase::resuming) {
      try_another_session(failure_of_refused_ping(frame));
      return;
    }
    if (says_session_is_missing(frame.text(frame.error))) {
      check_session();
      return;
    }
  }
  session_.upstream_reachable(true);
  session_.note_answer();
  if (checks_suspected) {
    health_.check_ended(false);
    resolve_suspected(false);
  }
  if (session_.is_open()) health_.watch();
}

void SessionDoubt::ping_ended(Ending ending) {
  if (session_.is_open() && health_.repeat(ending)) return;
  const bool checks_suspected = health_.ping_ended();
  const auto& failure = ending.failure;
  if (checks_suspected && failure) session_.loss_.note_other_era(ending);
  if (failure && failure->kind == ErrorKind::auth && session_.is_open()) {
    session_.loss_.note_failure(*failure);
    session_.loss_.log_refusal(*failure);
  }
  const bool is_refused =
      failure && (failure->status >= 400 || ending.session != SessionVerdict::kept);
  if (ending.session == SessionVerdict::lost) {
    resolve_suspected(true);
    session_.loss_.lose("a ping was refused");
  } else if (is_refused && !session_.is_modern() &&
             (checks_suspected || session_.phase_ == EraSession::Phase::resuming)) {
    try_another_session(*failure);
    return;
  } else if (checks_suspected) {
    health_.check_ended(false);
    resolve_suspected(false);
  } else if (ending.session != SessionVerdict::kept) {
    check_session();
  }
  if (failure && is_unreachable(*failure)) {
    session_.loss_.go_away(*failure);
  } else if (failure && session_.phase_ == EraSession::Phase::resuming) {
    session_.loss_.not_resumed(*failure);
  }
  if (session_.is_open()) health_.watch();
}

}  // namespace bridge
