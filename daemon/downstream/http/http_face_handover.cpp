// What another image of the program goes on with.
#include <algorithm>
#include <utility>

#include "downstream/http/http_face.hpp"
#include "downstream/http/posted_messages.hpp"
#include "json/reply.hpp"

namespace bridge {
namespace {

constexpr std::string_view words_at_upgrade = "the bridge is being upgraded";

}  // namespace

/// A caller that takes a stream can come again for the rest of it.
void HttpFace::pause() {
  for (auto& [name, session] : sessions_) {
    for (const auto& post : session->posts()) {
      if (!post->survives_upgrade()) post->become_stream();
    }
  }
}

void HttpFace::close_for_upgrade() {
  pause();
  fan_out_.close_all(words_at_upgrade);
  const HttpResponse refusal = error_response(503, json_rpc::bridge_error, words_at_upgrade);
  for (auto& [id, client] : sessionless_clients_) {
    if (client->post() != nullptr) client->post()->close(words_at_upgrade, refusal);
  }
  for (PendingPost* post : posts()) {
    if (post->can_resume()) {
      post->let_go(words_at_upgrade);
    } else if (!post->survives_upgrade()) {
      post->close(words_at_upgrade, refusal);
    }
  }
  for (ModernPost* post : modern_posts()) post->close(words_at_upgrade, refusal);
  for (auto& [name, session] : sessions_) session->stream().close(words_at_upgrade);
  const std::vector<PendingPost*> left = posts();
  server_->close_others([&left](const HttpConnection& connection) {
    return std::any_of(left.begin(), left.end(), [&connection](const PendingPost* post) {
      return post->goes_along_on(connection);
    });
  });
}

KeptFace HttpFace::to_keep() const {
  KeptFace kept;
  kept.last_post = context_.last_post;
  fan_out_.keep_in(kept);
  return kept;
}

void HttpFace::go_on_with(KeptFace kept) {
  context_.last_post = kept.last_post;
  fan_out_.go_on_with(std::move(kept));
}

std::vector<KeptDownstreamSession> HttpFace::sessions_to_keep() const {
  std::vector<KeptDownstreamSession> all;
  for (const auto& [name, session] : sessions_) {
    if (session->survives_upgrade({})) all.push_back(session->to_keep());
  }
  return all;
}

ClientChannel& HttpFace::go_on_with(KeptDownstreamSession kept) {
  auto session = std::make_unique<DownstreamSession>(
      context_, std::move(kept),
      [this](KeptHttpConnection one) { return &server_->go_on_with(std::move(one)); });
  DownstreamSession& added = *session;
  sessions_.emplace(added.name(), std::move(session));
  context_.sweep_by(added.last_used() + context_.options.session_idle);
  return added;
}

// Its parts.

KeptDownstreamSession DownstreamSession::to_keep() const {
  KeptDownstreamSession kept;
  kept.name = name_;
  kept.agent = agent_;
  kept.client = value_of(identity_.id);
  kept.connected = ticks_of(identity_.connected);
  kept.last_used = ticks_of(last_used_);
  kept.events = store_.to_keep();
  stream_.keep_in(kept);
  later_.each([&kept](const std::string& raw_id) { kept.later.push_back(raw_id); });
  for (const auto& post : posts_) {
    if (post->survives_upgrade()) kept.posts.push_back(post->to_keep());
  }
  return kept;
}

DownstreamSession::DownstreamSession(
    FaceContext& context, KeptDownstreamSession kept,
    const std::function<HttpConnection*(KeptHttpConnection)>& connection_of)
    : DownstreamSession(context, Kind::streamable, std::move(kept.name), std::move(kept.agent)) {
  identity_.id = static_cast<ClientId>(kept.client);
  identity_.connected = steady_time_of(kept.connected);
  last_used_ = steady_time_of(kept.last_used);
  is_known_ = true;
  store_.go_on_with(std::move(kept.events));
  for (KeptDownstreamSession::Post& one : kept.posts) {
    HttpConnection* const connection = one.connection.descriptor == KeptHttpConnection::none
                                           ? nullptr
                                           : connection_of(std::move(one.connection));
    posts_.push_back(
        std::make_unique<PendingPost>(context_, connection, store_, std::move(one), *this));
  }
  for (std::string& raw_id : kept.later) later_.insert(std::move(raw_id));
  stream_.go_on_with(kept);
}

bool DownstreamSession::survives_upgrade(std::string_view request_id) const {
  if (kind_ != Kind::streamable || is_over_ || !opening_id_.empty()) return false;
  if (request_id.empty() || later_.contains(request_id)) return true;
  const PendingPost* const post = post_for(request_id);
  return post != nullptr && post->survives_upgrade();
}

void SessionStream::keep_in(KeptDownstreamSession& kept) const {
  kept.feed = static_cast<std::uint64_t>(feed_);
  kept.sent_from_ring = value_of(sent_from_ring_);
  const auto add = [&kept](const Queued& one) {
    kept.queued.push_back({one.message, value_of(one.behind), one.answers, one.sent_as.has_value(),
                           one.sent_as ? one.sent_as->stream : 0,
                           one.sent_as ? one.sent_as->number : 0});
  };
  for (const Sent& sent : unacknowledged_) add(sent.message);
  for (const Queued& one : queue_) add(one);
}

void SessionStream::go_on_with(KeptDownstreamSession& kept) {
  if (kept.feed <= static_cast<std::uint64_t>(RingFeed::none))
    feed_ = static_cast<RingFeed>(kept.feed);
  sent_from_ring_ = static_cast<Sequence>(kept.sent_from_ring);
  for (KeptDownstreamSession::Queued& one : kept.queued) {
    queued_bytes_ += one.message.size();
    Queued queued{std::move(one.message), static_cast<Sequence>(one.behind),
                  std::move(one.answers)};
    if (one.was_sent) queued.sent_as = EventId{one.stream, one.number};
    queue_.push_back(std::move(queued));
  }
}

PendingPost::PendingPost(FaceContext& context, HttpConnection* connection, EventStore& store,
                         KeptDownstreamSession::Post kept, PostOwner& owner)
    : context_(context),
      connection_(connection),
      store_(&store),
      number_(kept.number),
      owner_(owner),
      share_(context.budget),
      began_(steady_time_of(kept.began)),
      is_stream_(kept.is_stream) {
  for (std::string& raw_id : kept.ids) asked_.ids.insert(std::move(raw_id));
  for (const std::string& answer : kept.answers) share_.add(answer.size());
  asked_.answers = std::move(kept.answers);
  asked_.is_batch = kept.is_batch;
  if (kept.form <= static_cast<std::uint64_t>(AnswerForm::either))
    asked_.form = static_cast<AnswerForm>(kept.form);
  asked_.primes = kept.primes;
  for (std::size_t at = 0; at + 1 < kept.headers.size(); at += 2)
    asked_.headers.emplace_back(kept.headers[at], kept.headers[at + 1]);
  if (connection_ != nullptr) connection_->set_responder(this);
  if (const auto time = due()) context_.sweep_by(*time);
}

KeptDownstreamSession::Post PendingPost::to_keep() const {
  KeptDownstreamSession::Post kept;
  kept.number = number_;
  asked_.ids.each([&kept](const std::string& raw_id) { kept.ids.push_back(raw_id); });
  kept.answers = asked_.answers;
  kept.is_batch = asked_.is_batch;
  kept.is_stream = is_stream_;
  kept.form = static_cast<std::uint64_t>(asked_.form);
  kept.primes = asked_.primes;
  for (const auto& [name, value] : asked_.headers) {
    kept.headers.push_back(name);
    kept.headers.push_back(value);
  }
  kept.began = ticks_of(began_);
  if (connection_ != nullptr && !is_stream_) kept.connection = connection_->to_keep();
  return kept;
}

bool PendingPost::survives_upgrade() const {
  if (store_ == nullptr || !asked_.new_session.empty()) return false;
  if (is_stream_ || connection_ == nullptr) return true;
  return context_.options.certificate.empty() && connection_->can_be_kept();
}

void PendingPost::become_stream() {
  if (!is_stream_ && can_send() && store_ != nullptr) begin_stream();
}

void PendingPost::let_go(std::string_view last_comment) {
  if (stream_) {
    stream_->comment(last_comment);
    stream_->end();
    stream_.reset();
  }
  connection_ = nullptr;
}

void FanOut::keep_in(KeptFace& kept) const {
  kept.fan_out = instance_;
  kept.fan_out_used = used_;
  kept.fan_out_seen = value_of(seen_);
  kept.fan_out_events = store_.to_keep();
}

void FanOut::go_on_with(KeptFace kept) {
  instance_ = kept.fan_out;
  used_ = kept.fan_out_used;
  seen_ = static_cast<Sequence>(kept.fan_out_seen);
  store_.go_on_with(std::move(kept.fan_out_events));
}

}  // namespace bridge
