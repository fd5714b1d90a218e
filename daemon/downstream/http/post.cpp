#include "downstream/http/post.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "downstream/http/downstream_session.hpp"
#include "downstream/http/fan_out.hpp"
#include "downstream/http/http_frontend.hpp"
#include "http/sse_parser.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"

namespace bridge {
namespace {

/// Bytes of ring entries given to a listen's connection at a time; the rest stays in the ring.
constexpr std::size_t listen_window = 64u << 10;

}  // namespace

Post::Post(FrontendContext& context, DownstreamSession& session)
    : context_(context), session_(&session) {}

Post::Post(FrontendContext& context, Era era, std::string agent, ClientIdentity identity)
    : context_(context), client_(Client{era, std::move(agent), std::move(identity)}) {}

Post::~Post() {
  if (connection_ != nullptr) connection_->drop();
}

void Post::begin(HttpConnection& connection, Asked asked) {
  asked_ = std::move(asked);
  connection_ = &connection;
  stage_ = Stage::waiting;
  connection.set_responder(this);
  // A modern error is also told by the status, so a modern stream starts later.
  if (asked_.form == AnswerForm::stream && may_become_stream() && !is_modern()) {
    begin_stream();
  } else if (const auto time = due()) {
    context_.frontend.sweep_by(*time);
  }
}

ClientId Post::client_id() const {
  return session_ != nullptr ? session_->identity().id : client_->identity.id;
}

/// Null if nothing can be resumed.
EventStore* Post::store() const { return session_ != nullptr ? &session_->store() : nullptr; }

bool Post::may_become_stream() const {
  return stage_ == Stage::waiting && asked_.form != AnswerForm::json && asked_.new_session.empty();
}

ChannelState Post::state() const {
  return {queued_bytes(), false, !is_modern() && context_.options.fans_out_all};
}

void Post::begin_stream() {
  stage_ = Stage::streaming;
  stream_ = std::make_unique<EventStream>(context_, *connection_, std::move(asked_.headers));
  if (store() != nullptr) stream_->announce(store()->next_id(number_), asked_.primes);
  for (const std::string& answer : take_collected()) emit(answer);
}

void Post::end_stream() {
  acknowledge_read();
  stream_->end();
  stream_.reset();
}

/// A refused session does not give out its name.
void Post::read_opening_answer(const std::string& answer) {
  std::string name = std::exchange(asked_.new_session, {});
  if (!find_member(answer, "error")) asked_.headers.emplace_back("Mcp-Session-Id", std::move(name));
  if (asked_.form == AnswerForm::stream && stage_ == Stage::waiting) begin_stream();
}

void Post::answer(std::string_view raw_id, std::string message) {
  if (session_ == nullptr)
    context_.fan_out->publish_answer(client_->identity, message, stage_ == Stage::for_later);
  if (!asked_.ids.erase(raw_id)) return;
  if (!asked_.new_session.empty()) read_opening_answer(message);
  if (is_modern() && asked_.form == AnswerForm::stream && stage_ == Stage::waiting &&
      status_of_answer(message) == 200)
    begin_stream();
  if (can_resume()) {
    emit(message, raw_id);
  } else if (stage_ == Stage::waiting) {
    share_.add(message.size());
    asked_.answers.push_back(std::move(message));
  } else if (session_ != nullptr) {
    session_->take_unsent(std::move(message));
  }
  end_if_answered();
}

void Post::no_answer(std::string_view raw_id) {
  if (asked_.ids.erase(raw_id)) end_if_answered();
}

void Post::send(Delivery delivery) {
  switch (delivery.kind) {
    case Delivery::Kind::message: break;  // a POST carries only what is about its requests
    case Delivery::Kind::about:
      context_.fan_out->publish_about(client_->identity, delivery.frame,
                                      stage_ == Stage::for_later);
      if (awaits(delivery.request_id)) send_before_answer(delivery.frame);
      break;
    case Delivery::Kind::entry:  // the fan-out's subscribers get it from the ring
      if (!awaits(delivery.request_id) || !send_before_answer(delivery.frame)) return;
      if (connection_ != nullptr)
        client_->sent_entries.push_back({delivery.entry, connection_->position()});
      break;
    case Delivery::Kind::response: answer(delivery.request_id, std::move(delivery.frame)); break;
  }
}

bool Post::send_before_answer(const std::string& message) {
  if (!may_send()) return false;
  if (stage_ == Stage::waiting) begin_stream();
  emit(message);
  return true;
}

/// Sends on the stream and keeps in the store; without a connection only the latter.
void Post::emit(const std::string& message, std::string_view answers) {
  EventStore* const kept = store();
  const EventId id = kept != nullptr ? kept->next_id(number_) : EventId{};
  if (stream_) {
    stream_->send_message(id, message);
    drop_if_stuck();
  }
  if (kept != nullptr) kept->keep(id, message, answers);
  load_changed();
}

void Post::acknowledge_read() {
  if (client_ && connection_ != nullptr && !client_->sent_entries.empty())
    take_told_before(connection_->acknowledged());
}

void Post::take_told_before(std::uint64_t position) {
  std::deque<SentEntry>& sent = client_->sent_entries;
  for (; !sent.empty() && sent.front().end <= position; sent.pop_front())
    context_.feed.ring().take(sent.front().entry);
}

void Post::load_changed() {
  if (session_ != nullptr) {
    session_->load_changed();
    return;
  }
  const std::size_t limit = asked_.listens ? listen_window : context_.options.client_buffer;
  const std::size_t bytes = queued_bytes();
  if (client_->congested ? bytes > limit / 2 : bytes <= limit) return;
  client_->congested = !client_->congested;
  context_.events.client_congestion(client_id(), client_->congested);
}

std::size_t Post::reclaimable_bytes() const {
  return session_ == nullptr && stage_ == Stage::streaming ? queued_bytes() : share_.held();
}

void Post::drop_if_stuck() {
  if (!stream_ || !stream_->is_stuck()) return;
  context_.log.peer(LogLevel::warning, "stream dropped", {.client = client_id()},
                    "the stream of a POST was dropped: it is not read (--http-stream-buffer)");
  drop_stream();
}

void Post::drop_stream() {
  ++context_.counts.stalled;
  stream_->drop();
  connection_lost(false);
}

/// The responses that wait for the last one.
std::vector<std::string> Post::take_collected() {
  share_.set(0);
  return std::exchange(asked_.answers, {});
}

void Post::end_with(HttpResponse response) {
  response.headers = std::move(asked_.headers);
  connection_->respond(std::move(response));
  set_over();
}

void Post::end_if_answered() {
  if (!asked_.ids.empty()) return;
  if (stage_ != Stage::waiting) {
    if (stream_) end_stream();
    set_over();
    return;
  }
  // All of its requests may have been cancelled: then there is no response.
  const std::vector<std::string> answers = take_collected();
  if (answers.empty()) {
    end_with({202, {}, {}, {}});
  } else {
    end_with(json_response(is_modern() ? status_of_answer(answers.front()) : 200,
                           answer_body(answers, asked_.is_batch)));
  }
}

void Post::resume(HttpConnection& connection, HttpResponse::Headers headers, EventId last) {
  if (stream_) end_stream();
  stage_ = Stage::streaming;
  connection_ = &connection;
  stream_ = std::make_unique<EventStream>(context_, connection, std::move(headers));
  connection.set_responder(this);
  stream_->replay(*store(), last);
}

std::optional<SteadyTime> Post::due() const {
  if (stage_ != Stage::waiting) return std::nullopt;
  return began_ + (may_become_stream()
                       ? std::min(context_.options.timeout, context_.options.keepalive)
                       : context_.options.timeout);
}

void Post::sweep(SteadyTime now) {
  drop_if_stuck();
  const auto time = due();
  if (!time || *time > now) return;
  if (asked_.listens || began_ + context_.options.timeout > now) {
    begin_stream();  // so that proxies do not take the silence for an end
    return;
  }
  // Sends the responses there are and errors for the rest: an array of requests gets one array.
  const std::vector<std::string> unanswered = asked_.ids.take_all();
  std::vector<std::string> answers = take_collected();
  for (const std::string& raw_id : unanswered) {
    answers.push_back(error_reply(raw_id, failure_of(ErrorKind::timeout, Delivered::unknown,
                                                     "no answer in time (--http-timeout)")));
  }
  end_with(json_response(504, answer_body(answers, asked_.is_batch)));
  cancel(unanswered);
}

void Post::give_up() {
  const std::size_t bytes = reclaimable_bytes();
  if (stage_ == Stage::streaming) {
    context_.log.peer(LogLevel::warning, "stream dropped", {.client = client_id()},
                      "the stream of a POST was dropped: {} bytes of it were not read, and "
                      "--max-buffered is used up",
                      bytes);
    drop_stream();
    return;
  }
  context_.log.peer(LogLevel::warning, "http array given up",
                    "a POST was answered 503: {} bytes of its answers were collected, and "
                    "--max-buffered is used up",
                    bytes);
  const std::vector<std::string> unanswered = asked_.ids.take_all();
  take_collected();
  close({}, overloaded_response());
  cancel(unanswered);
}

// A legacy caller may come back to its session; a modern request is cancelled. Deferred: the router
// may be writing to this client at this moment.
void Post::connection_lost(bool has_read_all) {
  if (client_ && has_read_all) take_told_before(std::numeric_limits<std::uint64_t>::max());
  connection_ = nullptr;
  stream_.reset();
  stage_ = stage_ == Stage::waiting ? Stage::gone : Stage::broken;
  for (std::string& answer : take_collected()) {
    if (session_ != nullptr) session_->take_unsent(std::move(answer));
  }
  if (is_modern()) {
    leaving_.schedule();
  } else {
    load_changed();  // unsent bytes now wait for no caller
  }
}

void Post::connection_drained() {
  acknowledge_read();
  load_changed();
}

void Post::set_over() {
  connection_ = nullptr;
  stage_ = Stage::over;
  if (session_ != nullptr) session_->post_over(*this);
}

/// The upstream need not answer these: their caller was answered with an error.
void Post::cancel(const std::vector<std::string>& raw_ids) {
  for (const std::string& raw_id : raw_ids) {
    if (session_ != nullptr) {
      session_->cancel(raw_id);
    } else {
      context_.events.client_line(client_id(), cancellation_of(raw_id));
    }
  }
}

void Post::close(std::string_view last_comment, const HttpResponse& refusal) {
  if (stream_) {
    stream_->comment(last_comment);
    end_stream();
  } else if (connection_ != nullptr) {
    connection_->respond(refusal);
  }
  set_over();
}

void Post::leave() {
  context_.events.client_left(client_id());
  context_.frontend.post_over(*this);
}

void Post::finish() {
  leaving_.cancel();
  context_.frontend.post_over(*this);
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
  if (const auto time = due()) context_.frontend.sweep_by(*time);
}

Post::Saved Post::save() const {
  Saved saved{number_, asked_, can_resume(), began_, {}};
  if (stage_ == Stage::waiting) saved.connection = connection_->save();
  return saved;
}

bool Post::survives_upgrade() const {
  if (session_ == nullptr || !asked_.new_session.empty() || stage_ == Stage::over) return false;
  if (stage_ != Stage::waiting) return true;
  return (context_.options.certificate.empty() || connection_->local_peer() != nullptr) &&
         connection_->can_be_saved();
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

}  // namespace bridge
