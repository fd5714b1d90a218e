#include "router/questions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "json/json_edit.hpp"
#include "json/json_object.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "mcp/handshake.hpp"
#include "mcp/input_required.hpp"
#include "mcp/methods.hpp"
#include "router/crossing/crossings.hpp"

namespace bridge {
namespace {

constexpr std::string_view no_client_answers =
    "Method not found: no client of the bridge answers it";

bool is_method_not_found(const Frame& response) {
  return find_member(response.text(response.error), "code") == "-32601";
}

std::string cancelled(std::string_view raw_id, std::string_view reason) {
  return own_notification(
      "notifications/cancelled",
      JsonObject().add("requestId", RawJson{raw_id}).add("reason", reason).text());
}

}  // namespace

// Questions from the upstream.

Questions::Questions(const RouterContext& context, RequestsInFlight& in_flight,
                     Crossings& crossings)
    : context_(context),
      in_flight_(in_flight),
      crossings_(crossings),
      answerers_(context, in_flight, table_),
      parking_(context.loop, [this] { expire_parked(); }) {}

void Questions::refuse(std::string_view raw_id, int code, std::string_view message) {
  context_.upstream.respond(error_reply(raw_id, code, message), context_.upstream.session());
}

/// Answers the upstream's request with this error.
void Questions::refuse(const Question& question, int code, std::string_view message) {
  if (question.is_request()) {
    context_.upstream.respond(error_reply(question.upstream_request_id, code, message),
                              question.session);
  } else if (question.origin) {
    crossings_.question_answered(question, nullptr);
  }
}

void Questions::refuse_named(const Question& question) {
  if (is_about_task(question.method)) {
    refuse(question, json_rpc::invalid_params,
           "Invalid params: the client of this task has left the bridge");
  } else {
    refuse(question, json_rpc::method_not_found,
           "Method not found: the client that this request names cannot be asked");
  }
}

void Questions::take_question(std::optional<UpstreamId> origin, Frame frame) {
  const std::string_view raw_id = frame.text(frame.id);
  if (frame.method == "ping") {
    context_.upstream.respond(result_reply(raw_id, "{}"), context_.upstream.session());
    return;
  }
  const bool is_of_session = !origin;
  // The client knows its request by its own id.
  std::string named_id;
  Slice name;
  if (const auto named = origin ? std::nullopt : answerers_.client_request_named_by(frame, name)) {
    origin = named;
    named_id = in_flight_.find_call(named)->client_request_id;
  }
  Question question = made(origin, frame.method, frame.text(frame.params));
  question.upstream_request_id = raw_id;
  question.session = context_.upstream.session();
  question.is_of_session = is_of_session && !question.origin;
  question.line = std::move(frame.bytes);
  const std::string number = std::to_string(question.id);
  splice(question.line, {frame.id, number}, named_id.empty() ? Splice{} : Splice{name, named_id});
  take_in(std::move(question));
}

void Questions::take_question(UpstreamId origin, std::size_t index, const InputRequest& asked) {
  Question question = made(origin, asked.method, asked.params);
  question.index = index;
  question.line = input_request_line(asked, std::to_string(question.id));
  take_in(std::move(question));
}

void Questions::take_question(JobNumber job, const InputRequest& asked) {
  Question question = made(std::nullopt, asked.method, asked.params);
  question.key = asked.key;
  question.line = input_request_line(asked, std::to_string(question.id));
  ask({{}, true, true, false, job}, table_.add_question(std::move(question)));
}

Question Questions::made(std::optional<UpstreamId> origin, std::string_view method,
                         std::string_view params) {
  Question question;
  question.id = table_.next_id();
  question.method = method;
  question.asked_for = asked_for(method, params);
  if (!origin || is_about_task(method)) question.named = answerers_.client_named_by(method, params);
  if (question.named) origin.reset();
  question.origin = origin;
  if (!origin) {
    question.likely_caller = likely_caller(in_flight_);
    return question;
  }
  question.owner = in_flight_.calls().owner(*origin).client;
  // As it was when the call came: the client may have another grant now.
  if (const Call* call = in_flight_.find_call(origin)) {
    question.user = call->user;
    question.grant = call->grant;
  } else if (const Client* owner = context_.clients.find_client(question.owner)) {
    question.user = owner->user;
    if (owner->grant) question.grant = owner->grant->id();
  }
  return question;
}

void Questions::take_in(Question question) {
  const auto whom = answerers_.choose(question, true);
  if (whom && whom->call) {
    question.origin = whom->call;
    if (table_.has_room_for(question.line.size()) && crossings_.ask_in_result(*whom->call)) {
      ask(*whom, table_.add_question(std::move(question)));
    } else {
      refuse(question, json_rpc::method_not_found,
             "Method not found: the client of this request cannot be asked any more");
    }
    return;
  }
  // Onlookers are callers of the HTTP frontend: a question about another user's call is not theirs.
  const bool is_watched =
      onlookers_ != nullptr && onlookers_->has_onlooker() && !question.named &&
      (!question.origin || (question.user && question.user->remote && question.grant.empty()));
  if (question.named && !whom && !answerers_.may_answer_later(question)) {
    refuse_named(question);
    return;
  }
  const bool is_about_one =
      !whom && (question.origin.has_value() ||
                in_flight_.calls().any([](const Call& call) { return call.may_ask_client(); }));
  if (!whom && !is_watched && !question.named &&
      (is_about_one || answerers_.has_reachable_client())) {
    context_.log.peer(
        LogLevel::info, "request of the upstream refused",
        "the upstream asks for {}: no connected client that could be asked has declared it",
        printable(question.method, 80));
    if (is_about_one && question.is_request())
      crossings_.note_undeclared(question.origin, question.method, question.asked_for);
    tell_of_refusal(question, in_flight_);
    refuse(question, json_rpc::method_not_found, no_client_answers);
    return;
  }
  if (!table_.has_room_for(question.line.size())) {
    refuse(question, json_rpc::bridge_error,
           "overloaded: too many requests to clients are unanswered");
    return;
  }
  if (!whom && !table_.can_park(question.line.size())) {
    refuse(question, json_rpc::bridge_error,
           "overloaded: no client is connected and too many requests wait");
    return;
  }
  Question& added = table_.add_question(std::move(question));
  added.shown = is_watched;
  if (is_watched) onlookers_->show_request(added.line);
  if (!whom || !ask(*whom, added)) park(added);
}

/// False if the client has left.
bool Questions::ask(const Candidate& whom, Question& question) {
  if (whom.call) {
    question.answerer = Question::Answerer::modern_call;
  } else if (whom.job != JobNumber{}) {
    question.answerer = Question::Answerer::job;
    question.job = whom.job;
    question.asked.reset();
    table_.move_to_end(question);
    context_.jobs->job_questions_changed(whom.job);
  } else if (Client* const client = context_.clients.find_client(whom.client)) {
    ask(*client, question);
  } else {
    return false;
  }
  return true;
}

void Questions::ask(Client& client, Question& question) {
  question.asked = client.id();
  question.asked_since = context_.loop.now();
  answerers_.asked(client, question);
  if (std::string notice = notice_of_caller(question, client); !notice.empty())
    client.channel.send(std::move(notice));
  const std::string_view about = answerers_.subject(question, client);
  if (!about.empty()) {
    client.channel.send_about(about, question.line);
  } else {
    client.channel.send(question.line);
  }
}

// Answers.

void Questions::answer(Client& client, Frame response) {
  Question* const question =
      client.may_take_part() ? table_.find_shown(response.text(response.id)) : nullptr;
  const bool was_asked =
      question != nullptr && question->asked == client.id() &&
      (question->shown_id.empty() || question->shown_id == response.text(response.id));
  // While no client is asked, any client may answer a shown question; only its user may answer one
  // about a call.
  const bool is_open = question != nullptr && question->shown && client.channel.answers_unasked() &&
                       (question->user ? question->is_of_user(client) : !question->origin) &&
                       (question->is_parked() || question->answerer == Question::Answerer::job);
  if (!was_asked && !is_open) {
    ++context_.statistics.unknown_answers;
    context_.log.peer(LogLevel::info, "unknown answer of a client", {.client = client.id()},
                      "unsolicited response of a client dropped");
    return;
  }
  if (was_asked && is_method_not_found(response) && ask_next(*question)) return;
  if (!was_asked) tell_withdrawn(*question, "it was answered");
  answerers_.told_by(client, response);
  take_answer(*question, std::move(response));
}

void Questions::take_answer(Question& question, Frame&& response) {
  const JobNumber job = question.answerer == Question::Answerer::job ? question.job : JobNumber{};
  // An elicitation can be cancelled; an error would be of no use to the server.
  if (job != JobNumber{} && response.error.present() && question.method == "elicitation/create")
    response = std::get<Frame>(parse_frame(result_reply("0", cancelled_by_user)));
  if (question.is_request()) {
    splice(response.bytes, {response.id, question.upstream_request_id});
    context_.upstream.respond(std::move(response.bytes), question.session);
  } else {
    if (job != JobNumber{})
      context_.jobs->job_question_answered(job, question, response.text(response.result));
    if (question.origin) crossings_.question_answered(question, &response);
  }
  remove(question);
}

/// The client does not know such requests: asks another one. False if there is none.
bool Questions::ask_next(Question& question) {
  if (question.declined.size() == Question::max_declined) return false;
  question.declined.push_back(*question.asked);
  if (question.answerer == Question::Answerer::job) {
    release(question);
    return true;
  }
  const auto next = answerers_.choose(question, false);
  return next && ask(*next, question);
}

/// The client answers nothing more: its questions go to others. Without another client, the
/// session's questions are parked; the upstream must not wait for other questions, nor for those
/// about requests of a client that has left.
void Questions::ask_others(const Client& client, bool has_left) {
  table_.each_question([&](Question& question) {
    if (question.asked != client.id()) return;
    const Call* const about = in_flight_.find_call(question.origin);
    if (question.answerer == Question::Answerer::job) {
      if (!has_left) tell_withdrawn(question, {});
      release(question);
    } else {
      // The call may have become a job.
      const bool is_jobs = about != nullptr && about->job != nullptr;
      ask_another(question, !has_left || is_jobs || question.owner != client.id(), true);
    }
  });
}

/// `may_wait`: the question is parked even if clients are connected.
void Questions::ask_another(Question& question, bool may_be_asked, bool may_wait) {
  const auto other = may_be_asked ? answerers_.choose(question, false) : std::nullopt;
  if (other && ask(*other, question)) return;
  if (question.named && !answerers_.may_answer_later(question)) {
    refuse_named(question);
    remove(question);
    return;
  }
  if (question.origin || (!may_wait && !question.shown && answerers_.has_reachable_client())) {
    if (!question.origin) tell_of_refusal(question, in_flight_);
    refuse(question, json_rpc::method_not_found, no_client_answers);
    remove(question);
  } else {
    park(question);
  }
}

void Questions::policy_changed() {
  table_.each_question([&](Question& question) {
    const Client* const client = context_.clients.find_client(question.asked);
    if (client == nullptr || client->may_take_part()) return;
    tell_withdrawn(question, "the policy allows this client nothing");
    if (question.answerer == Question::Answerer::job) {
      release(question);
    } else {
      ask_another(question, true, true);
    }
  });
  offer_parked();
}

void Questions::park(Question& question) {
  question.answerer = Question::Answerer::client;
  question.asked.reset();
  question.parked_until = context_.loop.now() + context_.options.park_requests;
  parking_.set_at_latest(question.parked_until);
}

void Questions::offer_parked() {
  if (table_.parked() == 0) return;
  table_.each_question([&](Question& question) {
    if (!question.is_parked()) return;
    if (const auto whom = answerers_.choose(question, false)) ask(*whom, question);
  });
}

void Questions::expire_parked() {
  const SteadyTime now = context_.loop.now();
  table_.each_question([&](Question& question) {
    if (!question.is_parked()) return;
    if (question.parked_until > now) {
      parking_.set_at_latest(question.parked_until);
      return;
    }
    refuse(question, json_rpc::bridge_error, "no client of the bridge is connected");
    remove(question);
  });
}

// For jobs: the first question of a job goes to a client that waits for the job and answers.

bool Questions::offer(JobNumber job, const std::vector<JobWaiter>& waiters) {
  Question* const question = table_.first_of(job);
  if (question == nullptr) return false;
  if (question->asked) return true;
  for (const JobWaiter& waiter : waiters) {
    Client* const client = context_.clients.find_client(waiter.client);
    const bool may_be_asked =
        client != nullptr && !client->half_closed && client->may_take_part() &&
        !has_declined(*question, waiter.client) &&
        (waiter.answers || client->declared.covers(question->method, question->asked_for)) &&
        client->channel.can_be_asked(waiter.request_id);
    if (!may_be_asked) continue;
    question->asked = waiter.client;
    question->shown_id = fmt::format(R"("question-{}")", ++last_shown_);
    question->shown_about = waiter.request_id;
    client->channel.send_about(question->shown_about,
                               json_rpc_message()
                                   .add("id", RawJson{question->shown_id})
                                   .add("method", question->method)
                                   .add_unless_empty("params", RawJson{question->params()})
                                   .text());
    return true;
  }
  return false;
}

bool Questions::answer(JobNumber job, std::string_view result, std::string_view error) {
  Question& question = *table_.first_of(job);
  auto response = parse_frame(json_rpc_message()
                                  .add("id", 0)
                                  .add_unless_empty("result", RawJson{result})
                                  .add_unless_empty("error", RawJson{error})
                                  .text());
  auto* const frame = std::get_if<Frame>(&response);
  if (frame == nullptr || !frame->is_response()) return false;
  tell_withdrawn(question, "it was answered");
  take_answer(question, std::move(*frame));
  return true;
}

/// The client that was asked for the job need not answer: another one may.
void Questions::release(Question& question) {
  question.asked.reset();
  question.shown_id.clear();
  question.shown_about.clear();
  context_.jobs->job_questions_changed(question.job);
}

void Questions::waiter_gone(ClientId client, std::string_view raw_id) {
  table_.each_question([&](Question& question) {
    if (question.asked != client || question.shown_id.empty() || question.shown_about != raw_id)
      return;
    tell_withdrawn(question, {});
    release(question);
  });
}

void Questions::job_over(JobNumber job) {
  table_.each_question([&](Question& question) {
    if (question.answerer != Question::Answerer::job || question.job != job) return;
    tell_withdrawn(question, {});
    question.shown_id.clear();
    if (question.is_of_session) {
      question.answerer = Question::Answerer::client;
      ask_another(question, true, false);
    } else if (!question.origin) {
      table_.remove(question);
    }
  });
}

// For calls of modern clients.

void Questions::answer_with(const Question& question, std::string_view result) {
  context_.upstream.respond(result_reply(question.upstream_request_id, result), question.session);
  table_.remove(question);
}

void Questions::refuse_unanswered(const Question& question) {
  context_.upstream.respond(
      error_reply(question.upstream_request_id, json_rpc::method_not_found,
                  "Method not found: the client of this request has not answered it"),
      question.session);
  table_.remove(question);
}

// Ends of questions without an answer.

/// Removes a question that has ended.
void Questions::remove(const Question& question) {
  const bool is_jobs = question.answerer == Question::Answerer::job;
  const JobNumber job = question.job;
  table_.remove(question);
  if (is_jobs) context_.jobs->job_questions_changed(job);
}

void Questions::cancel(Frame notification) {
  const std::string_view raw_id = notification.text(notification.request_id);
  Question* question =
      raw_id.empty() ? nullptr : table_.find_by_upstream_id(raw_id, context_.upstream.session());
  if (question == nullptr) {
    ++context_.statistics.dropped_notifications;
    return;
  }
  if (!question->shown_id.empty()) {
    tell_withdrawn(*question, {});
  } else if (Client* client = context_.clients.find_client(question->asked)) {
    std::string bytes = std::move(notification.bytes);
    const std::string number = std::to_string(question->id);
    splice(bytes, {notification.request_id, number});
    client->channel.send(std::move(bytes));
  }
  remove(*question);
}

/// The answer is no longer needed: tells the client that was asked.
void Questions::withdraw(Question& question, std::string_view reason) {
  const Client* const client = context_.clients.find_client(question.asked);
  if (client != nullptr && client->channel.can_be_asked({})) tell_withdrawn(question, reason);
  remove(question);
}

void Questions::tell_withdrawn(const Question& question, std::string_view reason) {
  const Client* const client = context_.clients.find_client(question.asked);
  if (client == nullptr) return;
  if (question.shown_id.empty()) {
    client->channel.send(cancelled(std::to_string(question.id), reason));
  } else {
    client->channel.send_about(question.shown_about,
                               cancelled(question.shown_id, "no answer is needed here any longer"));
  }
}

void Questions::session_replaced() {
  answerers_.names().clear();
  table_.each_question([&](Question& question) {
    // A modern client was asked in a result and is not told: what it answers is not passed on.
    const bool is_over = question.is_request() && question.session != context_.upstream.session() &&
                         question.answerer != Question::Answerer::modern_call;
    if (is_over) withdraw(question, "the session was lost");
  });
}

void Questions::call_ending(UpstreamId origin) {
  table_.each_question([&](Question& question) {
    if (question.origin == origin) withdraw(question, "the request that it belongs to has ended");
  });
}

std::vector<Question> Questions::save_questions() {
  std::vector<Question> all;
  table_.each_question([&](const Question& question) {
    if (!question.origin || in_flight_.survives_upgrade(*question.origin)) all.push_back(question);
  });
  return all;
}

void Questions::restore(std::vector<Question> saved) {
  for (Question& one : saved) {
    Question& question = table_.add_question(std::move(one));
    if (question.answerer == Question::Answerer::job) {
      release(question);  // waiting clients were answered
    } else if (question.is_parked()) {
      parking_.set_at_latest(question.parked_until);
    } else if (question.asked && context_.clients.find_client(question.asked) == nullptr) {
      ask_another(question, true, true);  // it was asked over HTTP
    }
  }
}

namespace {

constexpr std::size_t longest_message_shown = 4096;

}  // namespace

void tell_of_refusal(const Question& question, const RequestsInFlight& in_flight) {
  // The call's error names the question that ended it.
  if (!question.is_request() && question.method != "elicitation/create") return;
  std::vector<UpstreamId> about;
  in_flight.calls().each([&](UpstreamId id, const Call& call) {
    const bool is_possible = question.origin ? question.origin == id : call.awaits_upstream();
    if (is_possible && call.acts_for_user()) about.push_back(id);
  });
  if (about.size() != 1) return;
  const Call& call = *in_flight.find_call(about.front());
  const Client* const client = call.client();
  if (client == nullptr || call.describes_client() || client->declared.has_declared()) return;
  std::string_view message = find_member(question.params(), "message").value_or("");
  if (!is_string(message) || message.size() > longest_message_shown) message = "null";
  client->channel.send_about(
      call.client_request_id,
      own_notification(
          "notifications/bridge/question_refused",
          JsonObject().add("method", question.method).add("message", RawJson{message}).text()));
}

}  // namespace bridge
