#include "downstream/http/pending_post.hpp"

#include <algorithm>
#include <utility>

#include "downstream/http/fan_out.hpp"
#include "downstream/http/posted_messages.hpp"
#include "http/sse_parser.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"

namespace bridge {

std::string cancellation_of(std::string_view raw_id) {
  return std::string(
             R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)")
      .append(raw_id)
      .append(R"(,"reason":"timeout"}})");
}

PendingPost::PendingPost(FaceContext& context, HttpConnection& connection, EventStore* store,
                         Asked asked, PostOwner& owner)
    : context_(context),
      connection_(&connection),
      store_(store),
      number_(++context.last_post),
      asked_(std::move(asked)),
      owner_(owner),
      share_(context.budget),
      began_(context_.loop.now()) {
  connection.set_responder(this);
}

PendingPost::~PendingPost() {
  if (connection_ != nullptr) connection_->drop();
}

void PendingPost::begin() {
  if (asked_.form == AnswerForm::stream && asked_.new_session.empty()) {
    begin_stream();
  } else if (const auto time = due()) {
    context_.sweep_by(*time);
  }
}

void PendingPost::begin_stream() {
  is_stream_ = true;
  stream_ = std::make_unique<EventStream>(context_, *connection_, std::move(asked_.headers));
  if (store_ != nullptr) {
    const std::string id = to_text(store_->next_id(number_));
    stream_->send(asked_.primes ? sse_priming(id, stream_retry_ms)
                                : sse_retry(id, stream_retry_ms));
  }
  for (const std::string& answer : std::exchange(asked_.answers, {})) emit(answer);
  share_.set(0);
}

/// A session that was refused has no name to give out.
void PendingPost::read_opening_answer(const std::string& answer) {
  std::string name = std::exchange(asked_.new_session, {});
  if (!find_member(answer, "error")) asked_.headers.emplace_back("Mcp-Session-Id", std::move(name));
  if (asked_.form == AnswerForm::stream && connection_ != nullptr) begin_stream();
}

void PendingPost::answer(std::string_view raw_id, std::string message) {
  asked_.ids.erase(raw_id);
  if (!asked_.new_session.empty()) read_opening_answer(message);
  if (is_stream_) {
    emit(message, raw_id);
  } else if (connection_ == nullptr) {
    owner_.take_unsent(std::move(message));
  } else {
    share_.add(message.size());
    asked_.answers.push_back(std::move(message));
  }
  end_if_answered();
}

void PendingPost::no_answer(std::string_view raw_id) {
  asked_.ids.erase(raw_id);
  end_if_answered();
}

bool PendingPost::can_send() const {
  return is_stream_ || (asked_.form == AnswerForm::either && connection_ != nullptr &&
                        asked_.new_session.empty());
}

bool PendingPost::can_ask() const { return can_send() && connection_ != nullptr; }

bool PendingPost::send(const std::string& message) {
  if (!can_send()) return false;
  if (!is_stream_) begin_stream();
  emit(message);
  return true;
}

/// On the stream, and into the store; while nobody carries the stream only there.
void PendingPost::emit(const std::string& message, std::string_view answers) {
  const EventId id = store_ != nullptr ? store_->next_id(number_) : EventId{};
  if (stream_) {
    stream_->send(sse_event(store_ != nullptr ? to_text(id) : std::string(), {}, message));
    drop_if_stuck();
  }
  if (store_ != nullptr) store_->keep(id, message, answers);
  owner_.load_changed();
}

void PendingPost::drop_if_stuck() {
  if (!stream_ || !stream_->is_stuck()) return;
  context_.log.peer(LogLevel::warning, "stream dropped",
                    "the stream of a POST was dropped: it is not read (--http-stream-buffer)");
  stream_->drop();
  connection_lost(false);
}

void PendingPost::end_if_answered() {
  if (!asked_.ids.empty()) return;
  if (stream_) {
    stream_->end();
    stream_.reset();
  } else if (connection_ != nullptr) {
    // All of its requests may have been cancelled: then there is nothing to say.
    HttpResponse response = asked_.answers.empty()
                                ? HttpResponse{202, {}, {}, {}}
                                : json_response(200, answer_body(asked_.answers, asked_.is_batch));
    response.headers = std::move(asked_.headers);
    connection_->respond(std::move(response));
  }
  set_over();
}

void PendingPost::resume(HttpConnection& connection, EventStream::Headers headers, EventId last) {
  if (stream_) stream_->end();
  stream_.reset();
  connection_ = &connection;
  is_stream_ = true;
  stream_ = std::make_unique<EventStream>(context_, connection, std::move(headers));
  connection.set_responder(this);
  store_->each_after(last, [this](const EventStore::Event& event) {
    stream_->send(sse_event(to_text(event.id), {}, event.message));
  });
}

std::optional<SteadyTime> PendingPost::due() const {
  if (is_stream_ || connection_ == nullptr) return std::nullopt;
  const bool may_stream = asked_.form == AnswerForm::either && asked_.new_session.empty();
  return began_ + (may_stream ? std::min(context_.options.timeout, context_.options.keepalive)
                              : context_.options.timeout);
}

void PendingPost::sweep(SteadyTime now) {
  drop_if_stuck();
  const auto time = due();
  if (!time || *time > now) return;
  if (began_ + context_.options.timeout > now) {
    begin_stream();  // so that nobody on the way takes the silence for an end
    return;
  }
  // What was answered is said, the rest is an error: an array of requests gets one array.
  const std::vector<std::string> unanswered = asked_.ids.take_all();
  for (const std::string& raw_id : unanswered) {
    asked_.answers.push_back(error_reply(raw_id, failure_of(ErrorKind::timeout, Delivered::unknown,
                                                            "no answer in time (--http-timeout)")));
  }
  HttpResponse response = json_response(504, answer_body(asked_.answers, asked_.is_batch));
  response.headers = std::move(asked_.headers);
  connection_->respond(std::move(response));
  set_over();
  owner_.abandon_requests(unanswered);
}

void PendingPost::give_up() {
  const std::vector<std::string> unanswered = asked_.ids.take_all();
  asked_.answers.clear();
  share_.set(0);
  if (connection_ != nullptr) connection_->respond(overloaded_response());
  set_over();
  owner_.abandon_requests(unanswered);
}

void PendingPost::connection_lost(bool) {
  connection_ = nullptr;
  stream_.reset();
  if (!is_stream_) {
    for (std::string& answer : std::exchange(asked_.answers, {}))
      owner_.take_unsent(std::move(answer));
    share_.set(0);
  }
  owner_.load_changed();  // what was unsent does not wait for anybody any more
}

void PendingPost::set_over() {
  connection_ = nullptr;
  owner_.post_over(*this);
}

void PendingPost::close(std::string_view last_comment, const HttpResponse& refusal) {
  if (stream_) {
    stream_->comment(last_comment);
    stream_->end();
    stream_.reset();
  } else if (connection_ != nullptr) {
    connection_->respond(refusal);
  }
  set_over();
}

SessionlessClient::SessionlessClient(FaceContext& context, std::string agent)
    : context_(context), agent_(std::move(agent)) {
  identity_.id = context.ids.next();
  identity_.kind = "http";
  identity_.connected = context.loop.now();
}

void SessionlessClient::begin_post(HttpConnection& connection, PendingPost::Asked asked) {
  post_ = std::make_unique<PendingPost>(context_, connection, nullptr, std::move(asked), *this);
  post_->begin();
}

void SessionlessClient::abandon_requests(const std::vector<std::string>& raw_ids) {
  for (const std::string& raw_id : raw_ids)
    context_.events.client_line(identity_.id, cancellation_of(raw_id));
}

void SessionlessClient::post_over(PendingPost&) { context_.loop.reap(std::move(post_)); }

void SessionlessClient::finish() { context_.client_over(*this); }

bool SessionlessClient::is_awaited(std::string_view request_id) const {
  return post_ != nullptr && post_->awaits(request_id);
}

void SessionlessClient::answer(std::string_view request_id, std::string frame, AnswerOrder) {
  if (post_ == nullptr) {
    context_.fan_out->publish(frame);
  } else {
    context_.fan_out->publish_if_all(frame);
  }
  if (is_awaited(request_id)) post_->answer(request_id, std::move(frame));
}

void SessionlessClient::send_about(std::string_view request_id, std::string frame) {
  context_.fan_out->publish_about(frame, post_ == nullptr);
  if (is_awaited(request_id)) post_->send(frame);
}

void SessionlessClient::no_answer(std::string_view request_id) {
  if (is_awaited(request_id)) post_->no_answer(request_id);
}

}  // namespace bridge
