#include "downstream/http/post.hpp"

#include <algorithm>
#include <utility>

#include "downstream/http/frontend_clients.hpp"
#include "http/sse_parser.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"

namespace bridge {

Post::~Post() {
  if (connection_ != nullptr) connection_->drop();
}

void Post::begin(HttpConnection& connection, Asked asked) {
  asked_ = std::move(asked);
  connection_ = &connection;
  stage_ = Stage::waiting;
  connection.set_responder(this);
  if (asked_.form == AnswerForm::stream && may_become_stream() && !asked_.status_tells_errors) {
    begin_stream();
  } else if (const auto time = due()) {
    context_.clients->sweep_by(*time);
  }
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
  if (!asked_.ids.erase(raw_id)) return;
  if (!asked_.new_session.empty()) read_opening_answer(message);
  if (asked_.status_tells_errors && asked_.form == AnswerForm::stream && stage_ == Stage::waiting &&
      status_of_answer(message) == 200)
    begin_stream();
  if (is_stream()) {
    emit(message, raw_id);
  } else if (stage_ == Stage::waiting) {
    share_.add(memory_of_text(message));
    asked_.answers.push_back(std::move(message));
  } else {
    answer_elsewhere(std::move(message));
  }
  end_if_answered();
}

void Post::not_answered(std::string_view raw_id) {
  if (asked_.ids.erase(raw_id)) end_if_answered();
}

bool Post::send_before_answer(const std::string& message) {
  if (!is_stream() && !may_become_stream()) return false;
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

std::size_t Post::reclaimable_bytes() const {
  return store() == nullptr && stage_ == Stage::streaming ? queued_bytes() : share_.held();
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
  std::vector<std::string> answers = take_collected();
  if (answers.empty()) {
    end_with({202, {}, {}, {}});
    return;
  }
  const int status = asked_.status_tells_errors ? status_of_answer(answers.front()) : 200;
  end_with(json_response(status, answer_body(std::move(answers), asked_.is_batch)));
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
  end_with(json_response(504, answer_body(std::move(answers), asked_.is_batch)));
  for (const std::string& raw_id : unanswered) cancel(raw_id);
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
  for (const std::string& raw_id : unanswered) cancel(raw_id);
}

// A legacy caller may come back to its session.
void Post::connection_lost(bool has_read_all) {
  connection_ = nullptr;
  stream_.reset();
  stage_ = stage_ == Stage::waiting ? Stage::gone : Stage::broken;
  for (std::string& answer : take_collected()) answer_elsewhere(std::move(answer));
  caller_left(has_read_all);
}

void Post::connection_drained() {
  acknowledge_read();
  load_changed();
}

void Post::set_over() {
  connection_ = nullptr;
  stage_ = Stage::over;
  ended();
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

}  // namespace bridge
