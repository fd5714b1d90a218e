#include "downstream/http/session_post.hpp"

#include <utility>

#include "downstream/http/downstream_session.hpp"
#include "downstream/http/frontend_clients.hpp"

namespace bridge {

ClientId SessionPost::client_id() const { return session_.identity().id; }

EventStore* SessionPost::store() const { return &session_.store(); }

void SessionPost::answer_elsewhere(std::string message) {
  session_.stream().push(std::move(message));
}

void SessionPost::cancel(const std::string& raw_id) { session_.cancel(raw_id); }

void SessionPost::load_changed() { session_.load_changed(); }

void SessionPost::ended() { session_.post_over(*this); }

void SessionPost::resume(HttpConnection& connection, HttpResponse::Headers headers, EventId last) {
  if (stream_) end_stream();
  stage_ = Stage::streaming;
  connection_ = &connection;
  stream_ = std::make_unique<EventStream>(context_, connection, std::move(headers));
  connection.set_responder(this);
  stream_->replay(session_.store(), last);
}

SessionPost::SessionPost(FrontendContext& context, DownstreamSession& session, Saved saved,
                         HttpConnection* connection)
    : SessionPost(context, session) {
  connection_ = connection;
  number_ = saved.number;
  asked_ = std::move(saved.asked);
  began_ = saved.began;
  for (const std::string& answer : asked_.answers) share_.add(memory_of_text(answer));
  if (connection_ != nullptr) {
    stage_ = Stage::waiting;
    connection_->set_responder(this);
  } else {
    stage_ = saved.is_stream ? Stage::broken : Stage::gone;
  }
  if (const auto time = due()) context_.clients->sweep_by(*time);
}

SessionPost::Saved SessionPost::save() const {
  Saved saved{number_, asked_, is_stream(), began_, {}};
  if (stage_ == Stage::waiting) saved.connection = connection_->save();
  return saved;
}

bool SessionPost::survives_upgrade() const {
  if (!asked_.new_session.empty() || stage_ == Stage::over) return false;
  if (stage_ != Stage::waiting) return true;
  return (context_.options.certificate.empty() || connection_->local_peer() != nullptr) &&
         connection_->can_be_saved();
}

void SessionPost::detach(std::string_view last_comment) {
  if (stream_) {
    stream_->comment(last_comment);
    end_stream();
  }
  connection_ = nullptr;
  stage_ = Stage::broken;
}

}  // namespace bridge
