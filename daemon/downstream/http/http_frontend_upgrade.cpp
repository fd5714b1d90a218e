// The frontend in an upgrade: what it passes to the next process.
#include <algorithm>
#include <utility>

#include "downstream/http/http_frontend.hpp"
#include "downstream/http/posted_messages.hpp"
#include "json/reply.hpp"

namespace bridge {
namespace {

constexpr std::string_view words_at_upgrade = "the bridge is being upgraded";

}  // namespace

/// A caller that accepts a stream can come back for the rest of it.
void HttpFrontend::pause() {
  for (auto& [name, session] : sessions_) {
    for (const auto& post : session->posts()) {
      if (!post->survives_upgrade()) post->become_stream();
    }
  }
}

void HttpFrontend::close_for_upgrade() {
  pause();
  fan_out_.close_all(words_at_upgrade);
  const HttpResponse refusal = error_response(503, json_rpc::bridge_error, words_at_upgrade);
  for (Post* post : posts()) {
    if (!post->survives_upgrade()) {
      post->close(words_at_upgrade, refusal);
    } else if (post->can_resume()) {
      post->detach(words_at_upgrade);
    }
  }
  for (auto& [name, session] : sessions_) session->stream().close(words_at_upgrade);
  const std::vector<Post*> left = posts();
  server_->close_others([&left](const HttpConnection& connection) {
    return std::any_of(left.begin(), left.end(),
                       [&connection](const Post* post) { return post->moves_with(connection); });
  });
}

HttpFrontend::Saved HttpFrontend::save() const {
  Saved saved{context_.last_post, fan_out_.save(), {}};
  for (const auto& [name, session] : sessions_) {
    if (session->survives_upgrade({})) saved.sessions.push_back(session->save());
  }
  return saved;
}

std::vector<ClientChannel*> HttpFrontend::restore(Saved saved) {
  context_.last_post = saved.last_post;
  fan_out_.restore(std::move(saved.fan_out));
  std::vector<ClientChannel*> clients;
  for (DownstreamSession::Saved& one : saved.sessions) {
    auto session = std::make_unique<DownstreamSession>(context_, std::move(one), *server_);
    context_.sweep_by(session->last_used() + context_.options.session_idle);
    clients.push_back(session.get());
    sessions_.emplace(session->name(), std::move(session));
  }
  return clients;
}

// Its parts.

DownstreamSession::Saved DownstreamSession::save() const {
  Saved saved{name_,          agent_, identity_.id, identity_.connected, last_used_, store_.save(),
              stream_.save(), later_, {},           identity_.remote};
  for (const auto& post : posts_) {
    if (post->survives_upgrade()) saved.posts.push_back(post->save());
  }
  return saved;
}

DownstreamSession::DownstreamSession(FrontendContext& context, Saved saved, HttpServer& server)
    : DownstreamSession(context, Kind::streamable, std::move(saved.name), std::move(saved.agent)) {
  identity_.id = saved.client;
  identity_.connected = saved.connected;
  identity_.remote = std::move(saved.remote);
  last_used_ = saved.last_used;
  is_known_ = true;
  store_.restore(std::move(saved.store));
  for (Post::Saved& one : saved.posts) {
    HttpConnection* const connection =
        one.connection ? &server.restore(std::move(*one.connection)) : nullptr;
    posts_.push_back(std::make_unique<Post>(context_, *this, std::move(one), connection));
  }
  later_ = std::move(saved.later);
  stream_.restore(std::move(saved.stream));
}

bool DownstreamSession::survives_upgrade(std::string_view request_id) const {
  if (kind_ != Kind::streamable || is_over_ || !opening_id_.empty()) return false;
  if (request_id.empty() || later_.contains(request_id)) return true;
  const Post* const post = post_for(request_id);
  return post != nullptr && post->survives_upgrade();
}

SessionStream::Saved SessionStream::save() const { return {feed_, sent_from_ring_, queue_}; }

void SessionStream::restore(Saved saved) {
  feed_ = saved.feed;
  sent_from_ring_ = saved.sent_from_ring;
  queue_ = std::move(saved.queued);
  for (const Queued& one : queue_) queued_bytes_ += one.message.size();
}

Post::Post(FrontendContext& context, DownstreamSession& session, Saved saved,
           HttpConnection* connection)
    : Post(context, session) {
  connection_ = connection;
  number_ = saved.number;
  asked_ = std::move(saved.asked);
  began_ = saved.began;
  for (const std::string& answer : asked_.answers) share_.add(answer.size());
  if (connection_ != nullptr) {
    stage_ = Stage::waiting;
    connection_->set_responder(this);
  } else {
    stage_ = saved.is_stream ? Stage::broken : Stage::gone;
  }
  if (const auto time = due()) context_.sweep_by(*time);
}

Post::Saved Post::save() const {
  Saved saved{number_, asked_, can_resume(), began_, {}};
  if (stage_ == Stage::waiting) saved.connection = connection_->save();
  return saved;
}

bool Post::survives_upgrade() const {
  if (session_ == nullptr || !asked_.new_session.empty() || stage_ == Stage::over) return false;
  if (stage_ != Stage::waiting) return true;
  return context_.options.certificate.empty() && connection_->can_be_saved();
}

void Post::become_stream() {
  if (may_become_stream()) begin_stream();
}

void Post::detach(std::string_view last_comment) {
  if (stream_) {
    stream_->comment(last_comment);
    end_stream();
  }
  connection_ = nullptr;
  stage_ = Stage::broken;
}

void FanOut::restore(Saved saved) {
  instance_ = saved.instance;
  seen_ = saved.seen;
  used_ = saved.used;
  store_.restore(std::move(saved.store));
}

}  // namespace bridge
