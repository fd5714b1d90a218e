#include "session/session.hpp"

#include <algorithm>
#include <utility>

#include "mcp/handshake.hpp"
#include "text/json_text.hpp"

namespace bridge {
namespace {

constexpr std::chrono::seconds ping_patience{15};

}  // namespace

std::string_view name_of(Session::State state) {
  switch (state) {
    case Session::State::idle: return "idle";
    case Session::State::opening: return "opening";
    case Session::State::open: return "open";
    case Session::State::reopening: return "reopening";
    case Session::State::waiting: return "waiting";
    case Session::State::refused: return "refused";
  }
  return "idle";
}

Session::Session(EventLoop& loop, UpstreamIdSource& ids, Upstream& upstream, Log& log,
                 SessionOptions options)
    : loop_(loop),
      upstream_(upstream),
      ids_(ids),
      log_(log),
      options_(std::move(options)),
      timer_(loop, [this] { timer_fired(); }),
      step_timer_(loop, [this] { step_unanswered(); }),
      keepalive_timer_(loop, [this] { keepalive_fired(); }),
      confirm_timer_(loop, [this] { confirm_unanswered(); }) {}

bool Session::is_trying() const { return step_ != Step::none; }

void Session::send(Outgoing message) {
  last_sent_ = loop_.now();
  message.session = number_;
  upstream_.send(std::move(message));
}

void Session::abandon(UpstreamId id) {
  if (held_.remove(id)) return;
  const auto removed = std::erase_if(doubts_, [id](const Ending& doubt) {
    return doubt.unanswered && doubt.unanswered->id == id;
  });
  if (removed == 0) upstream_.abandon(id);
}

/// The session serves: the next loss of it is the first one.
void Session::note_answer() {
  backoff_.reset();
  if (last_failure_ && is_open()) last_failure_.reset();
}

UpstreamId Session::send_own(OutgoingKind kind, std::string_view method, std::string_view params) {
  Outgoing message;
  message.id = ids_.next();
  message.kind = kind;
  message.may_repeat = true;
  message.body = kind == OutgoingKind::request ? own_request(message.id, method, params)
                                               : own_notification(method, params);
  const UpstreamId id = message.id;
  send(std::move(message));
  return id;
}

AnsweredRequests Session::upstream_message(std::optional<UpstreamId> origin, std::string bytes) {
  AnsweredRequests answered;
  if (ending_) return answered;
  if (state_ == State::waiting && alive_) came_back();
  if (!is_batch(bytes)) {
    answered.add(one_message(origin, std::move(bytes)).value_or(UpstreamId{}));
    return answered;
  }
  const auto batch = split_batch(bytes);
  if (const auto* fault = std::get_if<FrameFault>(&batch)) {
    note_malformed(origin, fault->reason);
    return answered;
  }
  for (const std::string_view element : std::get<0>(batch))
    answered.add(one_message(origin, std::string(element)).value_or(UpstreamId{}));
  return answered;
}

/// Returns the request that it answers.
std::optional<UpstreamId> Session::one_message(std::optional<UpstreamId> origin,
                                               std::string bytes) {
  auto parsed = parse_frame(std::move(bytes));
  if (const auto* fault = std::get_if<FrameFault>(&parsed)) {
    note_malformed(origin, fault->reason);
    return std::nullopt;
  }
  Frame& frame = std::get<Frame>(parsed);
  if (is_echo(frame)) {
    initialize_echoed();
    return std::nullopt;
  }
  const UpstreamId own = own_request_answered_by(origin, frame);
  if (own != UpstreamId{}) {
    own_message(own, origin, std::move(frame));
    return own;
  }
  const auto answered = events_->session_message(origin, std::move(frame));
  if (answered) note_answer();
  return answered;
}

void Session::note_malformed(std::optional<UpstreamId> origin, std::string_view reason) {
  if (origin && *origin == initialize_id_) malformed_answer_ = reason;
  events_->session_malformed(origin, reason);
}

/// Only a client sends `initialize`: who sends ours back says nothing of its own.
bool Session::is_echo(const Frame& frame) const {
  return step_ == Step::initialize && frame.is_request() && frame.method == "initialize" &&
         to_unsigned(frame.text(frame.id)) == value_of(initialize_id_);
}

/// Which of the session's own requests it answers; 0: none.
UpstreamId Session::own_request_answered_by(std::optional<UpstreamId> origin,
                                            const Frame& frame) const {
  if (!frame.is_response()) return {};
  UpstreamId id{};
  if (frame.id_is_null) {
    // An error without an id, on a request's own stream, is that request's.
    id = origin.value_or(UpstreamId{});
  } else if (const auto number = to_unsigned(frame.text(frame.id))) {
    id = static_cast<UpstreamId>(*number);
  }
  const bool is_own = (id == initialize_id_ && step_ == Step::initialize) || id == ping_id_ ||
                      id == confirm_id_ ||
                      std::find(step_ids_.begin(), step_ids_.end(), id) != step_ids_.end();
  return is_own ? id : UpstreamId{};
}

void Session::own_message(UpstreamId answered, std::optional<UpstreamId> origin, Frame frame) {
  if (answered == initialize_id_ && step_ == Step::initialize) {
    initialize_answered(origin, std::move(frame));
  } else if (answered == ping_id_) {
    ping_id_ = UpstreamId{};
    note_answer();
    watch_silence();
  } else if (answered == confirm_id_) {
    confirm_id_ = UpstreamId{};
    resolve_doubts(false);
  } else {
    step_ended(answered);
  }
}

void Session::upstream_ended(UpstreamId id, Ending ending) {
  if (ending_) return;
  if (own_ended(id, ending)) return;
  if (ending.failure && ending.unanswered) {
    message_failed(std::move(ending));
    return;
  }
  if (state_ == State::waiting && alive_ && !ending.failure) came_back();
  const SessionVerdict verdict = ending.session;
  if (ending.failure) note_turned_away(*ending.failure);
  events_->session_ended(id, std::move(ending));
  if (verdict == SessionVerdict::lost) lose("the continuation of an answer was refused");
  if (verdict == SessionVerdict::doubtful) confirm();
}

bool Session::own_ended(UpstreamId id, Ending& ending) {
  if (id == initialize_id_ && step_ == Step::initialize) {
    initialize_ended(std::move(ending));
    return true;
  }
  if (id == confirm_id_ || id == ping_id_) {
    const bool confirms = id == confirm_id_;
    if (confirms && asks_again(ending)) return true;
    (confirms ? confirm_id_ : ping_id_) = UpstreamId{};
    const bool refused = ending.session != SessionVerdict::kept;
    if (confirms) resolve_doubts(refused);
    if (ending.failure && ending.failure->kind == ErrorKind::auth && is_open()) {
      last_failure_ = ending.failure;
      events_->session_failed(*ending.failure);
    }
    if (refused) {
      lose("a ping was refused");
    } else if (ending.failure && is_unreachable(*ending.failure)) {
      go_away(*ending.failure);
    } else if (!confirms) {
      watch_silence();
    }
    return true;
  }
  if (std::find(step_ids_.begin(), step_ids_.end(), id) == step_ids_.end()) return false;
  if (ending.failure && ending.failure->kind == ErrorKind::auth) {
    leave_step();
    refuse(*ending.failure);
  } else if (ending.failure && (ending.session == SessionVerdict::lost ||
                                ending.failure->delivered == Delivered::no)) {
    try_failed(std::move(*ending.failure));
  } else {
    step_ended(id);
  }
  return true;
}

void Session::server_stream_changed(ServerStream state) {
  server_stream_ = state;
  if (step_ == Step::server_stream && state != ServerStream::waiting) send_initialized();
}

// Whatever it is, it has said it: the opening goes on, and the stream is tried again beside.
void Session::server_stream_refused() {
  if (step_ == Step::server_stream) send_initialized();
}

void Session::upstream_reachable() {
  if (state_ == State::waiting && alive_) came_back();
}

void Session::upstream_lost_session() {
  if (step_ == Step::none || step_ == Step::initialize) {
    lose("the upstream says so");
    return;
  }
  // It was not open yet: this try has failed. What it has asked has no answer.
  for (const UpstreamId id : step_ids_) upstream_.abandon(id);
  try_failed(failure_of(ErrorKind::closed, Delivered::no,
                        "the session was lost while it was being opened"));
}

void Session::set_next_try(std::chrono::milliseconds delay) {
  next_try_ = loop_.now() + delay;
  schedule();
}

void Session::schedule() {
  const auto held = held_.next_time(is_open());
  if (!held && !next_try_) {
    timer_.clear();
  } else {
    timer_.set(std::min(held.value_or(SteadyTime::max()), next_try_.value_or(SteadyTime::max())));
  }
}

void Session::timer_fired() {
  fail_expired();
  if (next_try_ && *next_try_ <= loop_.now()) {
    next_try_.reset();
    if (is_wanted()) {
      if (alive_) {
        probe();
      } else {
        start_try();
      }
    }
  }
  if (is_open()) release_held();
  schedule();
}

void Session::watch_silence() {
  if (is_open() && options_.keepalive.count() > 0)
    keepalive_timer_.set(last_sent_ + options_.keepalive);
}

void Session::send_ping() {
  ping_id_ = send_own(OutgoingKind::request, "ping", {});
  ping_sent_ = loop_.now();
}

// One ping at a time: its end sets the timer for the next one.
void Session::keepalive_fired() {
  if (!is_open() || ending_) return;
  const auto now = loop_.now();
  if (ping_id_ != UpstreamId{} && now < ping_sent_ + ping_patience) {
    keepalive_timer_.set(ping_sent_ + ping_patience);
  } else if (ping_id_ != UpstreamId{}) {
    log_.peer(LogLevel::warning, "ping unanswered",
              "the upstream has not answered a ping for {} s: connections are made anew",
              ping_patience.count());
    upstream_.abandon(ping_id_);
    ping_id_ = UpstreamId{};
    upstream_.refresh_connections();
    keepalive_timer_.set(now + options_.keepalive);
  } else if (now - last_sent_ >= options_.keepalive) {
    send_ping();
    keepalive_timer_.set(ping_sent_ + ping_patience);
  } else {
    watch_silence();
  }
}

void Session::reconfigure(const SessionOptions& options) {
  options_.connect_wait = options.connect_wait;
  options_.keepalive = options.keepalive;
  watch_silence();
  if (options_.keepalive.count() == 0) keepalive_timer_.clear();
}

void Session::end(std::function<void()> done) {
  ending_ = true;
  timer_.clear();
  step_timer_.clear();
  keepalive_timer_.clear();
  confirm_timer_.clear();
  upstream_.end(std::move(done));
}

}  // namespace bridge
