#include "downstream/http/downstream_session.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/random.hpp"
#include "downstream/http/fan_out.hpp"
#include "downstream/http/frontend_clients.hpp"
#include "downstream/http/posted_messages.hpp"
#include "json/json_text.hpp"
#include "router/lost_notifications.hpp"
#include "text/characters.hpp"

namespace bridge {

std::string make_session_name() { return random_hex(16); }

DownstreamSession::DownstreamSession(FrontendContext& context, Kind kind, std::string name,
                                     std::string agent, ClientIdentity identity)
    : context_(context),
      kind_(kind),
      name_(std::move(name)),
      agent_(std::move(agent)),
      identity_(std::move(identity)),
      store_(context.options.stream_buffer, context.budget),
      share_(context.budget),
      last_used_(identity_.connected),
      leaving_(context.loop, [this] { leave(); }),
      stream_(context, *this) {}

// Deferred: the router may be writing to the session at this moment.
void DownstreamSession::end() {
  if (is_over()) return;
  life_ = Life::ended;
  leaving_.schedule();
}

/// No request of it is accepted from now on, so that its caller cannot end it.
void DownstreamSession::note_lost(std::uint64_t entries) {
  report_lost(entries, identity_.id, context_.counts, context_.log);
}

void DownstreamSession::grant_ended() {
  grant_ended_ = true;
  sweep_when_due();
}

void DownstreamSession::finish() {
  end();
  life_ = Life::finished;
}

void DownstreamSession::leave() {
  if (std::exchange(life_, Life::finished) == Life::ended)
    context_.events.client_left(identity_.id);
  while (!posts_.empty()) {
    posts_.back()->close("the session has ended", session_not_found());
  }
  stream_.close("the session has ended");
  context_.clients->session_over(*this);
}

void DownstreamSession::begin_post(HttpConnection& connection, Post::Asked asked) {
  posts_.push_back(std::make_unique<SessionPost>(context_, *this));
  posts_.back()->begin(connection, std::move(asked));
  can_be_asked_now();
}

void DownstreamSession::post_over(SessionPost& post) {
  const auto found = std::find_if(posts_.begin(), posts_.end(),
                                  [&post](const auto& one) { return one.get() == &post; });
  context_.loop.reap(std::move(*found));
  posts_.erase(found);
  used();
  load_changed();
  sweep_when_due();
}

void DownstreamSession::sweep_when_due() {
  if (grant_ended_ && posts_.empty() && later_.empty()) end();
  if (const auto end = due()) context_.clients->sweep_by(end->time);
}

SessionPost* DownstreamSession::post_for(std::string_view raw_id) const {
  const auto found = std::find_if(posts_.begin(), posts_.end(),
                                  [raw_id](const auto& one) { return one->awaits(raw_id); });
  return found == posts_.end() ? nullptr : found->get();
}

SessionPost* DownstreamSession::post_of_stream(std::uint64_t number) {
  const auto found = std::find_if(posts_.begin(), posts_.end(), [number](const auto& one) {
    return one->number() == number && one->can_resume();
  });
  return found == posts_.end() ? nullptr : found->get();
}

bool DownstreamSession::awaits(std::string_view raw_id) const {
  return later_.contains(raw_id) || post_for(raw_id) != nullptr;
}

void DownstreamSession::send(Delivery delivery) {
  switch (delivery.kind) {
    case Delivery::Kind::message: return send_message(std::move(delivery.frame));
    case Delivery::Kind::about:
    case Delivery::Kind::entry: return send_about(delivery.request_id, std::move(delivery.frame));
    case Delivery::Kind::response: return answer(std::move(delivery));
  }
}

void DownstreamSession::answer(Delivery response) {
  const std::string_view request_id = response.request_id;
  std::string& frame = response.frame;
  SessionPost* post = post_for(request_id);
  const bool is_late = post == nullptr && take_expected_later(request_id);
  context_.fan_out->publish_answer(identity_, frame, is_late && kind_ == Kind::streamable);
  if (!opening_id_.empty() && same_id(request_id, opening_id_)) {
    // A refused session, or one whose name no caller has learned, ends.
    if (find_member(frame, "error") || post == nullptr || !post->has_caller()) end();
    opening_id_.clear();
  }
  if (post != nullptr) {
    post->answer(request_id, std::move(frame));
    return;
  }
  if (response.order == AnswerOrder::ahead) {
    stream_.push_ahead(std::move(frame), request_id);
  } else {
    stream_.push(std::move(frame), request_id);
  }
}

void DownstreamSession::cancel(const std::string& raw_id) {
  if (!opening_id_.empty() && same_id(raw_id, opening_id_)) end();
  context_.events.client_line(identity_.id, cancellation_of(raw_id));
}

void DownstreamSession::send_about(std::string_view request_id, std::string frame) {
  context_.fan_out->publish_about(identity_, frame,
                                  kind_ == Kind::streamable && later_.contains(request_id));
  SessionPost* post = post_for(request_id);
  // A question cannot wait for a resumption; a notification can.
  const bool elsewhere =
      post != nullptr && !post->can_ask() && stream_.is_open() && is_request_text(frame);
  if (post != nullptr && !elsewhere && post->send_before_answer(frame)) return;
  // Nothing can precede a response that is one body; the session's stream can carry it.
  if (stream_.is_open() || post == nullptr) stream_.push(std::move(frame));
}

void DownstreamSession::no_answer(std::string_view request_id) {
  if (SessionPost* post = post_for(request_id)) post->not_answered(request_id);
  take_expected_later(request_id);
}

/// Whether the response was deferred. The idle time of an unused session starts with the last one.
bool DownstreamSession::take_expected_later(std::string_view request_id) {
  if (!later_.erase(request_id)) return false;
  used();
  sweep_when_due();
  return true;
}

void DownstreamSession::send_message(std::string frame) {
  context_.fan_out->publish_about(identity_, frame, false);
  if (!stream_.is_open()) {
    // A question about none of its own requests: the stream of a POST can carry it too.
    for (const auto& post : posts_) {
      if (post->can_ask() && post->send_before_answer(frame)) return;
    }
  }
  stream_.push(std::move(frame));
}

/// A stream without a connection may never be resumed: a question there may get no answer.
bool DownstreamSession::can_be_asked(std::string_view request_id) const {
  if (stream_.is_open()) return true;
  const SessionPost* asking = request_id.empty() ? nullptr : post_for(request_id);
  if (asking != nullptr) return asking->can_ask();
  return std::any_of(posts_.begin(), posts_.end(), [](const auto& one) { return one->can_ask(); });
}

void DownstreamSession::can_be_asked_now() {
  if (life_ != Life::finished && can_be_asked({}))
    context_.events.client_can_be_asked(identity_.id);
}

bool DownstreamSession::is_unused() const {
  return !is_over() && !stream_.is_open() && posts_.empty() && later_.empty();
}

std::optional<SessionDue> DownstreamSession::due() const {
  if (is_over()) return std::nullopt;
  SessionUse use;
  use.has_stream = stream_.is_open();
  use.is_asked = !posts_.empty() || !later_.empty();
  use.over_limit = congested_;
  use.last_used = last_used_;
  use.last_taken = std::max(last_taken_, stream_.last_taken().value_or(last_taken_));
  for (const auto& post : posts_)
    use.last_taken = std::max(use.last_taken, post->last_taken().value_or(last_taken_));
  return end_of_session(use, {context_.options.session_idle, context_.options.stall});
}

std::optional<SteadyTime> DownstreamSession::end_quiet_stream(SteadyTime now) {
  const auto end = stream_.quiet_end();
  if (!end) return std::nullopt;
  if (*end > now) return end;
  if (kind_ == Kind::old_sse && !later_.empty()) return now + context_.options.sse_idle;
  stream_.close({});
  stream_changed(false);
  return std::nullopt;
}

void DownstreamSession::stream_changed(bool is_open) {
  used();
  last_taken_ = last_used_;
  if (is_open) return can_be_asked_now();
  if (kind_ == Kind::old_sse) end();
  sweep_when_due();
}

ChannelState DownstreamSession::state() const {
  const std::size_t queued = queued_bytes();
  return {queued, is_unused() && queued == 0};
}

std::size_t DownstreamSession::queued_bytes() const {
  std::size_t bytes = stream_.queued_bytes();
  for (const auto& post : posts_) bytes += post->queued_bytes();
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
    context_.clients->sweep_by(last_taken_ + context_.options.stall);
  }
  if (life_ != Life::finished) context_.events.client_congestion(identity_.id, congested_);
}

DownstreamSession::Saved DownstreamSession::save() const {
  Saved saved{name_,
              agent_,
              identity_.id,
              identity_.connected,
              last_used_,
              store_.save(),
              stream_.save(),
              later_,
              {},
              identity_.remote,
              identity_.kind,
              identity_.pid,
              identity_.peer(),
              identity_.grant,
              identity_.is_anonymous};
  for (const auto& post : posts_) {
    if (post->survives_upgrade()) saved.posts.push_back(post->save());
  }
  return saved;
}

ClientIdentity DownstreamSession::Saved::identity() const {
  return {client,      kind,   pid,       peer.uid,     peer.gid,
          peer.groups, remote, connected, is_anonymous, grant};
}

DownstreamSession::DownstreamSession(FrontendContext& context, Saved saved, HttpServer& server)
    : DownstreamSession(context, Kind::streamable, std::move(saved.name), std::move(saved.agent),
                        saved.identity()) {
  last_used_ = saved.last_used;
  store_.restore(std::move(saved.store));
  for (SessionPost::Saved& one : saved.posts) {
    HttpConnection* const connection =
        one.connection ? &server.restore(std::move(*one.connection)) : nullptr;
    posts_.push_back(std::make_unique<SessionPost>(context_, *this, std::move(one), connection));
  }
  later_ = std::move(saved.later);
  stream_.restore(std::move(saved.stream));
}

bool DownstreamSession::survives_upgrade(std::string_view request_id) const {
  if (kind_ != Kind::streamable || is_over() || !opening_id_.empty()) return false;
  if (request_id.empty() || later_.contains(request_id)) return true;
  const SessionPost* const post = post_for(request_id);
  return post != nullptr && post->survives_upgrade();
}

}  // namespace bridge
