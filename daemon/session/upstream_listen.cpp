#include "session/upstream_listen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "json/json_text.hpp"

namespace bridge {
namespace {

/// For how long a stream that was replaced is still read: what the server sent on it alone is here
/// by then.
constexpr std::chrono::milliseconds overlap_time{250};

}  // namespace

UpstreamListen::UpstreamListen(EventLoop& loop, SessionSender& sender, Upstream& upstream, Log& log,
                               Events& events)
    : loop_(loop),
      sender_(sender),
      upstream_(upstream),
      log_(log),
      events_(events),
      retry_(loop, [this] { start(); }),
      overlap_(loop, [this] {
        if (old_ != UpstreamId{}) {
          // Its last words may be on their way on the new stream still.
          give_up(old_);
          if (now_ != UpstreamId{}) told_.settle(now_);
          overlap_.set_after(overlap_time);
        } else {
          told_.keep_only({now_, next_});
        }
      }) {}

void UpstreamListen::open() {
  is_open_ = true;
  backoff_.reset();
  start();
}

void UpstreamListen::close() {
  is_open_ = false;
  had_stream_ = false;
  retry_.clear();
  overlap_.clear();
  told_.keep_only({});
  for (UpstreamId* const stream : {&old_, &now_, &next_}) give_up(*stream);
  state_ = ServerStream::off;
}

void UpstreamListen::want(SubscriptionFilter filter, std::string capabilities) {
  wanted_ = std::move(filter);
  capabilities_ = std::move(capabilities);
  const bool is_asked = now_ != UpstreamId{} || next_ != UpstreamId{};
  if (!is_open_ || (is_asked && asked_ == wanted_)) return;
  // A refused stream is asked for again with another filter; a broken one when its time has come.
  if (!retry_.is_set()) retry_.set_at_latest(soonest());
}

SteadyTime UpstreamListen::soonest() const {
  return std::max(loop_.now(), started_before_ + 2 * between_openings);
}

void UpstreamListen::start() {
  retry_.clear();
  if (!is_open_) return;
  give_up(next_);
  asked_ = wanted_;
  if (asked_.empty()) {
    give_up(now_);
    set_state(ServerStream::off);
    return;
  }
  started_before_ = std::exchange(started_, loop_.now());
  next_ = sender_.stream("subscriptions/listen",
                         fmt::format(R"({{"notifications":{}}})", asked_.json()), capabilities_);
  told_.begin(next_);
  if (now_ == UpstreamId{}) set_state(ServerStream::waiting);
}

void UpstreamListen::give_up(UpstreamId& stream) {
  const UpstreamId given_up = std::exchange(stream, UpstreamId{});
  if (given_up != UpstreamId{}) sender_.give_up(given_up);
}

UpstreamId UpstreamListen::stream_of(std::optional<UpstreamId> origin, const Frame& frame) const {
  UpstreamId stream = origin.value_or(UpstreamId{});
  if (const auto named = to_unsigned(frame.text(frame.subscription_id)))
    stream = static_cast<UpstreamId>(*named);
  if (frame.method == "notifications/cancelled") {
    if (const auto named = to_unsigned(frame.text(frame.request_id)))
      stream = static_cast<UpstreamId>(*named);
  }
  return awaits(stream) ? stream : UpstreamId{};
}

std::optional<std::string> UpstreamListen::take(UpstreamId stream, const Frame& notification) {
  if (notification.method == "notifications/subscriptions/acknowledged") {
    acknowledged(stream, notification);
    return std::nullopt;
  }
  if (notification.method == "notifications/cancelled") {
    upstream_.abandon(stream);
    over(stream, false);
    return std::nullopt;
  }
  std::string line = without_subscription_id(notification);
  return told_.is_news(stream, line) ? std::optional(std::move(line)) : std::nullopt;
}

void UpstreamListen::acknowledged(UpstreamId stream, const Frame& acknowledgement) {
  if (stream != next_) return;
  const bool is_resumed = had_stream_ && now_ == UpstreamId{};
  had_stream_ = true;
  backoff_.reset();
  give_up(old_);
  if (upstream_.has_answer_streams()) {
    // What a stream before has told may come on this one still, though that one be gone.
    told_.acknowledged();
    if (told_.has_several()) overlap_.set_after(overlap_time);
    old_ = now_;
  } else {
    told_.keep_only({next_});  // its messages come in their order
    give_up(now_);
  }
  now_ = std::exchange(next_, UpstreamId{});
  acknowledged_ = asked_;
  honoured_.reset();
  auto honoured = read_acknowledged(acknowledgement);
  if (auto* const filter = std::get_if<SubscriptionFilter>(&honoured))
    honoured_ = std::move(*filter);
  set_state(ServerStream::open);
  events_.listen_acknowledged();
  if (is_resumed) events_.listen_resumed(asked_);
}

void UpstreamListen::answered(UpstreamId stream, const Frame& response) {
  const bool refused = response.error.present();
  if (refused) {
    log_.peer(LogLevel::warning, "listen refused",
              "the upstream refuses to be listened to: its notifications do not come");
  }
  over(stream, refused);
}

void UpstreamListen::ended(UpstreamId stream, const Ending& ending) {
  const auto& failure = ending.failure;
  const bool refused = failure && failure->status >= 400 && failure->status < 500 &&
                       failure->kind != ErrorKind::auth && failure->status != 429;
  if (failure && refused) {
    log_.peer(LogLevel::warning, "listen refused",
              "the upstream refuses to be listened to ({}): its notifications do not come",
              log_text(*failure));
  }
  over(stream, refused);
}

void UpstreamListen::over(UpstreamId stream, bool refused) {
  for (UpstreamId* const one : {&old_, &now_, &next_}) {
    if (*one == stream) *one = UpstreamId{};
  }
  if (now_ != UpstreamId{} || next_ != UpstreamId{}) return;
  told_.keep_only({old_});
  if (refused) {
    set_state(ServerStream::none);
    return;
  }
  set_state(ServerStream::waiting);
  const auto after =
      backoff_.tries() == 0 && had_stream_ ? loop_.now() : loop_.now() + backoff_.next();
  if (backoff_.tries() == 0) backoff_.next();
  retry_.set_at_latest(std::max(started_ + between_openings, after));
}

void UpstreamListen::set_state(ServerStream state) {
  if (std::exchange(state_, state) != state) events_.listen_changed(state);
}

}  // namespace bridge
