#include "downstream/http/downstream_session.hpp"

#include <algorithm>
#include <utility>

#include "text/json_text.hpp"

namespace bridge {
namespace {

bool is_question(std::string_view frame) {
  return find_member(frame, "method").has_value() && find_member(frame, "id").has_value();
}

}  // namespace

DownstreamSession::DownstreamSession(FaceContext& context, Kind kind, std::string name,
                                     std::string agent)
    : context_(context),
      kind_(kind),
      name_(std::move(name)),
      agent_(std::move(agent)),
      store_(context.options.stream_buffer, context.budget),
      share_(context.budget),
      last_used_(context_.loop.now()),
      stream_(
          context, store_,
          kind == Kind::old_sse ? SessionStream::Style{false, "message"}
                                : SessionStream::Style{true, {}},
          [this] { load_changed(); }, [this] { stream_lost(); }) {
  identity_.id = context.ids.next();
  identity_.kind = "http";
  identity_.connected = last_used_;
}

void DownstreamSession::start() {
  known_ = true;
  ++context_.counts.connected;
  context_.events.client_connected(*this);
}

void DownstreamSession::end() {
  if (std::exchange(known_, false)) context_.events.client_left(identity_.id);
  set_over();
}

void DownstreamSession::set_over() {
  if (std::exchange(over_, true)) return;
  context_.over_sessions.push_back(name_);
  context_.flush.schedule();
}

void DownstreamSession::finish() {
  known_ = false;
  set_over();
}

PendingPost* DownstreamSession::exchange_for(std::string_view raw_id) const {
  const auto found = std::find_if(exchanges_.begin(), exchanges_.end(),
                                  [raw_id](const PendingPost* one) { return one->awaits(raw_id); });
  return found == exchanges_.end() ? nullptr : *found;
}

PendingPost* DownstreamSession::exchange_of_stream(std::uint64_t number) {
  const auto found = std::find_if(
      exchanges_.begin(), exchanges_.end(),
      [number](const PendingPost* one) { return one->number() == number && one->can_resume(); });
  return found == exchanges_.end() ? nullptr : *found;
}

bool DownstreamSession::awaits(std::string_view raw_id) const {
  return later_.contains(raw_id) || exchange_for(raw_id) != nullptr;
}

void DownstreamSession::answer(std::string_view request_id, std::string frame, AnswerOrder order) {
  context_.fan_out->publish_if_all(frame);
  PendingPost* exchange = exchange_for(request_id);
  if (!opening_id_.empty() && same_id(request_id, opening_id_)) {
    // A session that was refused, or whose name nobody has learned, is none; the router learns of
    // it once this answer is on its way.
    if (find_member(frame, "error") || exchange == nullptr || !exchange->has_caller()) set_over();
    opening_id_.clear();
  }
  if (exchange != nullptr) {
    exchange->answer(request_id, std::move(frame));
    return;
  }
  const bool expected = settle_later(request_id);
  const bool is_late = expected && kind_ == Kind::streamable;
  if (is_late && !context_.options.fans_out_all) context_.fan_out->publish(frame);
  if (order == AnswerOrder::ahead) {
    stream_.push_ahead(std::move(frame), request_id);
  } else {
    stream_.push(std::move(frame), request_id);
  }
}

void DownstreamSession::timed_out(std::string_view raw_id) {
  if (!opening_id_.empty() && same_id(raw_id, opening_id_)) end();
}

void DownstreamSession::send_later(std::string message) { stream_.push(std::move(message)); }

void DownstreamSession::send_about(std::string_view request_id, std::string frame) {
  context_.fan_out->publish_about(frame, kind_ == Kind::streamable && later_.contains(request_id));
  PendingPost* exchange = exchange_for(request_id);
  // A question waits for no resumption; what only tells something does.
  const bool elsewhere =
      exchange != nullptr && !exchange->can_ask() && stream_.is_open() && is_question(frame);
  if (exchange != nullptr && !elsewhere && exchange->send(frame)) return;
  // Before an answer that comes as one body nothing else can come; it may on the session's stream.
  if (stream_.is_open() || exchange == nullptr) stream_.push(std::move(frame));
}

void DownstreamSession::no_answer(std::string_view request_id) {
  if (PendingPost* exchange = exchange_for(request_id)) exchange->no_answer(request_id);
  settle_later(request_id);
}

/// Was it put off? With the last one the time of a session that nobody uses begins to run.
bool DownstreamSession::settle_later(std::string_view request_id) {
  if (!later_.erase(request_id)) return false;
  used();
  if (const auto end = due()) context_.look_by(end->time);
  return true;
}

void DownstreamSession::send(std::string frame) {
  context_.fan_out->publish_about(frame, false);
  if (!stream_.is_open()) {
    // A question about no request of its own: a stream of a POST carries it as well.
    for (PendingPost* exchange : exchanges_) {
      if (exchange->can_ask() && exchange->send(frame)) return;
    }
  }
  stream_.push(std::move(frame));
}

void DownstreamSession::send_ahead(std::string frame) { stream_.push_ahead(std::move(frame)); }

/// A stream without a connection is resumed at best: what asks now gets no answer there.
bool DownstreamSession::can_be_asked(std::string_view request_id) const {
  if (stream_.is_open()) return true;
  const PendingPost* asking = request_id.empty() ? nullptr : exchange_for(request_id);
  if (asking != nullptr) return asking->can_ask();
  return std::any_of(exchanges_.begin(), exchanges_.end(),
                     [](const PendingPost* one) { return one->can_ask(); });
}

void DownstreamSession::opened() {
  used();
  last_taken_ = last_used_;
  can_be_asked_now();
}

void DownstreamSession::can_be_asked_now() {
  if (known_ && can_be_asked({})) context_.events.client_can_be_asked(identity_.id);
}

bool DownstreamSession::is_unused() const {
  return !over_ && !stream_.is_open() && exchanges_.empty() && later_.empty();
}

std::optional<SessionDue> DownstreamSession::due() const {
  if (over_) return std::nullopt;
  SessionUse use;
  use.has_stream = stream_.is_open();
  use.is_asked = !exchanges_.empty() || !later_.empty();
  use.over_limit = congested_;
  use.last_used = last_used_;
  use.last_taken = std::max(last_taken_, stream_.last_taken().value_or(last_taken_));
  for (const PendingPost* exchange : exchanges_)
    use.last_taken = std::max(use.last_taken, exchange->last_taken().value_or(last_taken_));
  return end_of_session(use, {context_.options.session_idle, context_.options.stall});
}

std::optional<SteadyTime> DownstreamSession::end_quiet_stream(SteadyTime now) {
  const auto end = stream_.quiet_end();
  if (!end) return std::nullopt;
  if (*end > now) return end;
  if (kind_ == Kind::old_sse && !later_.empty()) return now + context_.options.sse_idle;
  stream_.close({});
  stream_lost();
  return std::nullopt;
}

void DownstreamSession::stream_lost() {
  used();
  last_taken_ = last_used_;
  if (kind_ == Kind::old_sse) {
    set_over();  // the router, which may be writing to it just now, learns of it later
  } else if (const auto end = due()) {
    context_.look_by(end->time);
  }
}

std::size_t DownstreamSession::queued_bytes() const {
  std::size_t bytes = stream_.queued_bytes();
  for (const PendingPost* exchange : exchanges_) bytes += exchange->unsent();
  return bytes;
}

void DownstreamSession::load_changed() {
  share_.set(stream_.held_bytes());
  const std::size_t bytes = queued_bytes();
  const std::size_t limit = context_.options.client_buffer;
  const bool over = bytes > limit && (stream_.queued() > 1 || bytes > stream_.queued_bytes());
  const bool drained = bytes <= limit / 2;
  if (congested_ ? !drained : !over) return;
  congested_ = !congested_;
  if (congested_) {
    last_taken_ = context_.loop.now();
    context_.look_by(last_taken_ + context_.options.stall);
  }
  if (known_) context_.events.client_congestion(identity_.id, congested_);
}

}  // namespace bridge
