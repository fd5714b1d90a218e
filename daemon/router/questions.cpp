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

namespace bridge {
namespace {

/// A client that has not answered for this long gets no further question while another client can
/// answer.
constexpr std::chrono::seconds answer_timeout{30};

constexpr std::string_view no_client_answers =
    "Method not found: no client of the bridge answers it";

/// The caller as shown to this client. Empty: the client itself, or no particular caller.
std::string_view shown_caller(const Question& question, ClientId asked) {
  if (question.origin) return question.owner == asked ? "" : "another";
  switch (question.likely_caller.kind) {
    case LikelyCaller::Kind::nobody: return "";
    case LikelyCaller::Kind::one: return question.likely_caller.client == asked ? "" : "another";
    case LikelyCaller::Kind::several: return "unknown";
  }
  return "";
}

bool is_method_not_found(const Frame& response) {
  return find_member(response.text(response.error), "code") == "-32601";
}

std::string cancelled(std::string_view raw_id, std::string_view reason) {
  return own_notification(
      "notifications/cancelled",
      JsonObject().add("requestId", RawJson{raw_id}).add("reason", reason).text());
}

}  // namespace

LikelyCaller likely_caller(const RequestsInFlight& in_flight) {
  LikelyCaller caller;
  StreamOwner first;
  in_flight.each([&](UpstreamId id, const Call& call) {
    if (!call.awaits_upstream() || !call.acts_for_user() || call.side == Era::modern ||
        !may_require_input(call.method))
      return;
    const StreamOwner owner = in_flight.owner(id);
    if (caller.kind == LikelyCaller::Kind::nobody) {
      first = owner;
      caller = {LikelyCaller::Kind::one, owner.client};
    } else if (first != owner) {
      caller = {LikelyCaller::Kind::several, {}};
    }
  });
  return caller;
}

std::string_view Question::params() const { return find_member(line, "params").value_or(""); }

std::string notice_of_caller(const Question& question, const Client& asked) {
  if (!asked.declared.names(question.method)) return {};
  const std::string_view caller = shown_caller(question, asked.id());
  if (caller.empty()) return {};
  return own_notification("notifications/bridge/question_about",
                          JsonObject().add("requestId", question.id).add("caller", caller).text());
}

std::size_t QuestionTable::parked() const {
  return static_cast<std::size_t>(std::count_if(
      questions_.begin(), questions_.end(), [](const Question& one) { return one.is_parked(); }));
}

bool QuestionTable::can_park(std::size_t bytes) const {
  std::size_t parked_bytes = bytes;
  for (const Question& one : questions_) {
    if (one.is_parked()) parked_bytes += one.line.size();
  }
  return parked() < max_parked && parked_bytes <= max_parked_bytes;
}

Question& QuestionTable::add(Question question) {
  bytes_ += question.line.size();
  questions_.push_back(std::move(question));
  return questions_.back();
}

void QuestionTable::remove(const Question& question) {
  const auto found = std::find_if(questions_.begin(), questions_.end(),
                                  [&](const Question& one) { return &one == &question; });
  if (found == questions_.end()) return;
  bytes_ -= found->line.size();
  questions_.erase(found);
}

void QuestionTable::move_to_end(const Question& question) {
  const auto found = std::find_if(questions_.begin(), questions_.end(),
                                  [&](const Question& one) { return &one == &question; });
  questions_.splice(questions_.end(), questions_, found);
}

template <class IsOne>
Question* QuestionTable::find_if(IsOne&& is_one) {
  const auto found = std::find_if(questions_.begin(), questions_.end(), is_one);
  return found == questions_.end() ? nullptr : &*found;
}

Question* QuestionTable::find(std::uint64_t id) {
  return find_if([id](const Question& one) { return one.id == id; });
}

Question* QuestionTable::find_shown(std::string_view raw_id) {
  if (const auto number = unsigned_by_value(raw_id)) return find(*number);
  return find_if([raw_id](const Question& one) { return one.shown_id == raw_id; });
}

Question* QuestionTable::find_by_upstream_id(std::string_view raw_id) {
  Question* const same =
      find_if([raw_id](const Question& one) { return same_id(one.upstream_request_id, raw_id); });
  const auto number = same == nullptr ? unsigned_by_value(raw_id) : std::nullopt;
  if (!number) return same;
  return find_if(
      [&](const Question& one) { return unsigned_by_value(one.upstream_request_id) == number; });
}

Question* QuestionTable::first_of(JobNumber job) {
  return find_if([job](const Question& one) {
    return one.answerer == Question::Answerer::job && one.job == job;
  });
}

bool QuestionTable::has_left_open(ClientId client, SteadyTime then) const {
  return std::any_of(questions_.begin(), questions_.end(), [&](const Question& one) {
    return one.asked == client && one.asked_since <= then && one.shown_id.empty();
  });
}

// Choosing the client to ask.

const Candidate* who_is_asked(const std::vector<Candidate>& candidates) {
  const bool all_silent = std::all_of(candidates.begin(), candidates.end(),
                                      [](const Candidate& one) { return one.is_silent; });
  const bool client_waits =
      std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& one) {
        return one.is_busy && one.job == JobNumber{} && (all_silent || !one.is_silent);
      });
  const Candidate* longest = nullptr;
  const Candidate* busy = nullptr;
  int busy_ones = 0;
  for (const Candidate& one : candidates) {
    if (one.is_silent && !all_silent) continue;
    if (one.is_own) return &one;
    if (one.job != JobNumber{} && client_waits) continue;
    if (longest == nullptr) longest = &one;
    if (!one.is_busy) continue;
    busy = &one;
    ++busy_ones;
  }
  return busy_ones == 1 ? busy : longest;
}

bool has_declined(const Question& question, ClientId client) {
  const auto& declined = question.declined;
  return std::find(declined.begin(), declined.end(), client) != declined.end();
}

/// Observers and unreachable clients do not count.
bool Questions::has_reachable_client() const {
  const Clients& clients = context_.clients;
  return std::any_of(clients.begin(), clients.end(), [](const auto& entry) {
    const Client& client = *entry.second;
    return !client.is_observer() && client.may_take_part() && client.channel.can_be_asked({});
  });
}

/// The client's own id for the request that the question is about; empty if that is not its
/// request, or has ended.
std::string_view Questions::subject(const Question& question, const Client& client) const {
  if (question.owner != client.id()) return {};
  const Call* const about = in_flight_.find(question.origin);
  return about != nullptr ? std::string_view(about->client_request_id) : std::string_view();
}

/// Whether the client has declared that it answers such requests and can be reached. A question
/// about a request is never for another user's clients.
bool Questions::can_answer(const Client& client, const Question& question) const {
  if (client.half_closed || !client.may_take_part() ||
      !client.declared.covers(question.method, question.asked_for))
    return false;
  if (question.origin && question.user != client.user) return false;
  return !has_declined(question, client.id()) &&
         client.channel.can_be_asked(subject(question, client));
}

/// In order of connecting, then the jobs.
std::vector<Candidate> Questions::candidates(const Question& question, bool is_new) const {
  const SteadyTime long_ago = context_.loop.now() - answer_timeout;
  std::vector<Candidate> candidates;
  for (const auto& [id, client] : context_.clients) {
    if (!can_answer(*client, question)) continue;
    candidates.push_back(
        {id, question.owner == id, !client->in_flight.empty(), table_.has_left_open(id, long_ago)});
  }
  if (question.origin) return candidates;
  if (is_new) add_modern_calls(candidates, question);
  if (context_.jobs != nullptr) {
    for (const JobNumber job : context_.jobs->jobs_to_ask()) {
      if (may_be_asked(job)) candidates.push_back({{}, false, true, false, job});
    }
  }
  return candidates;
}

/// Whether the policy has a rule for the user that submitted the job.
bool Questions::may_be_asked(JobNumber job) const {
  if (!context_.permissions.is_on()) return true;
  bool may = true;
  in_flight_.each([&](UpstreamId, const Call& call) {
    if (call.job != nullptr && call.job->number == job)
      may = may && context_.permissions.may_take_part(call.job->peer);
  });
  return may;
}

/// A modern client answers through its oldest call in flight.
void Questions::add_modern_calls(std::vector<Candidate>& candidates,
                                 const Question& question) const {
  std::map<ClientId, UpstreamId> calls;
  in_flight_.each([&](UpstreamId id, const Call& call) {
    const Client* const client = call.client();
    if (client == nullptr || !may_be_asked_in(id, question)) return;
    UpstreamId& oldest = calls.try_emplace(client->id(), id).first->second;
    oldest = std::min(oldest, id);
  });
  for (const auto& [client, id] : calls) {
    std::erase_if(candidates, [its = client](const Candidate& one) { return one.client == its; });
    candidates.push_back({client, false, true, false, {}, id});
  }
  std::sort(
      candidates.begin(), candidates.end(),
      [](const Candidate& left, const Candidate& right) { return left.client < right.client; });
}

/// The oldest suspended call, but none while another call is in flight: the server waits for the
/// suspended one's answers already, so the question is more likely about the other.
std::optional<UpstreamId> Questions::suspended_call(const Question& question) const {
  std::optional<UpstreamId> suspended;
  bool others_in_flight = false;
  in_flight_.each([&](UpstreamId id, const Call& call) {
    others_in_flight =
        others_in_flight || (call.awaits_upstream() && !call.is_suspended() &&
                             call.side == Era::legacy && may_require_input(call.method));
    if (call.is_suspended() && may_be_asked_in(id, question))
      suspended = std::min(id, suspended.value_or(id));
  });
  return others_in_flight ? std::nullopt : suspended;
}

bool Questions::may_be_asked_in(UpstreamId id, const Question& question) const {
  const Call* const call = in_flight_.find(id);
  const Client* const client = call != nullptr ? call->client() : nullptr;
  if (client != nullptr && !client->may_take_part()) return false;
  return call != nullptr && call->to_legacy != nullptr && question.is_request() &&
         is_question(question.method) && may_require_input(call->method) &&
         call->to_legacy->declared().covers(question.method, question.asked_for);
}

// Requests that name what only one client knows. No other client is asked.

namespace {

constexpr std::string_view tasks_prefix = "tasks/";
constexpr int url_elicitation_required = -32042;  // MCP 2025-11-25, "Elicitation"
constexpr std::size_t longest_telling = 8192;     // of a response or error that tells of names

std::string member_text(std::string_view object, std::string_view name) {
  return find_string(object, name).value_or("");
}

}  // namespace

void Questions::told(ClientId client, const Frame& response) {
  const std::string_view result = response.text(response.result);
  const std::string_view error = response.text(response.error);
  if (!result.empty() && result.size() <= longest_telling && result.find("taskId") != result.npos) {
    told_.note(ToldNames::Kind::server_task,
               member_text(find_member(result, "task").value_or(""), "taskId"), client);
  }
  if (error.empty() || error.size() > longest_telling ||
      find_member(error, "code") != std::to_string(url_elicitation_required))
    return;
  const std::string_view data = find_member(error, "data").value_or("");
  each_element(find_member(data, "elicitations").value_or(""), [&](std::string_view one) {
    told_.note(ToldNames::Kind::elicitation, member_text(one, "elicitationId"), client);
    return true;
  });
}

void Questions::told_of_task(const Client& client, const Frame& notification) {
  told_.note(ToldNames::Kind::client_task,
             member_text(notification.text(notification.params), "taskId"), client.id());
}

void Questions::restore_told(const std::vector<ToldNames::Entry>& names) {
  for (const ToldNames::Entry& one : names) told_.note(one.kind, one.name, one.client);
}

std::optional<ClientId> Questions::client_named_by(std::string_view method,
                                                   std::string_view params) const {
  using Kind = ToldNames::Kind;
  if (method.starts_with(tasks_prefix))
    return told_.find(Kind::client_task, member_text(params, "taskId"));
  if (const std::string_view task = related_task(params); is_string(task)) {
    const std::string name = to_text(task).value_or("");
    const auto client = told_.find(Kind::server_task, name);
    return client ? client : told_.find(Kind::client_task, name);
  }
  if (const auto id = find_string(params, "elicitationId"))
    return told_.find(Kind::elicitation, *id);
  return std::nullopt;
}

/// The request in flight of a client or job that a request of the upstream names as its
/// `requestId`: it is about that one, as if it came on its stream.
std::optional<UpstreamId> Questions::client_request_named_by(const Frame& request,
                                                             Slice& name) const {
  int times = 0;
  for_each_member(request.bytes, request.params, [&](std::string_view key, Slice, Slice value) {
    if (key != "requestId") return;
    name = value;
    ++times;
  });
  const auto number = times == 1 ? unsigned_by_value(request.text(name)) : std::nullopt;
  if (!number) return std::nullopt;
  const auto id = static_cast<UpstreamId>(*number);
  const Call* const call = in_flight_.find(id);
  return call != nullptr && call->acts_for_user() ? std::optional(id) : std::nullopt;
}

/// Whether the named client may still be asked, though perhaps not reached now.
bool Questions::may_answer_later(const Question& question) const {
  const Client* const client = context_.clients.find(question.named);
  return client != nullptr && !client->half_closed && client->may_take_part() &&
         !has_declined(question, client->id()) &&
         (question.method.starts_with(tasks_prefix) ||
          client->declared.covers(question.method, question.asked_for));
}

std::optional<Candidate> Questions::choose_named(const Question& question) const {
  const bool is_reached =
      may_answer_later(question) && context_.clients.find(question.named)->channel.can_be_asked({});
  return is_reached ? std::optional(Candidate{*question.named, true}) : std::nullopt;
}

void Questions::refuse_named(const Question& question) {
  if (question.method.starts_with(tasks_prefix)) {
    refuse(question, json_rpc::invalid_params,
           "Invalid params: the client of this task has left the bridge");
  } else {
    refuse(question, json_rpc::method_not_found,
           "Method not found: the client that this request names cannot be asked");
  }
}

/// `is_new`: it has just arrived, so it may be asked in a result.
std::optional<Candidate> Questions::choose(const Question& question, bool is_new) const {
  if (question.named) return choose_named(question);
  const std::string_view task = question.origin ? "" : related_task(question.params());
  const auto its_job =
      context_.jobs != nullptr && !task.empty() ? context_.jobs->job_of_task(task) : std::nullopt;
  if (its_job) return Candidate{{}, true, true, false, *its_job};
  const Call* const about = in_flight_.find(question.origin);
  if (about != nullptr && about->job != nullptr)
    return Candidate{{}, true, true, false, about->job->number};
  if (is_new && about != nullptr && may_be_asked_in(*question.origin, question))
    return Candidate{{}, true, true, false, {}, question.origin};
  const std::vector<Candidate> all = candidates(question, is_new);
  if (const Candidate* const one = who_is_asked(all)) return *one;
  const auto call = is_new && !question.origin ? suspended_call(question) : std::nullopt;
  return call ? std::optional(Candidate{{}, false, false, false, {}, call}) : std::nullopt;
}

// Questions from the upstream.

Questions::Questions(const RouterContext& context, RequestsInFlight& in_flight,
                     QuestionEvents events)
    : context_(context),
      in_flight_(in_flight),
      events_(std::move(events)),
      parking_(context.loop, [this] { expire_parked(); }) {}

void Questions::refuse(std::string_view raw_id, int code, std::string_view message) {
  context_.upstream.respond(error_reply(raw_id, code, message));
}

/// Answers the upstream's request with this error.
void Questions::refuse(const Question& question, int code, std::string_view message) {
  if (question.is_request()) {
    refuse(question.upstream_request_id, code, message);
  } else if (question.origin) {
    events_.answered(question, nullptr);
  }
}

void Questions::add(std::optional<UpstreamId> origin, Frame frame) {
  const std::string_view raw_id = frame.text(frame.id);
  if (frame.method == "ping") {
    context_.upstream.respond(result_reply(raw_id, "{}"));
    return;
  }
  const bool is_of_session = !origin;
  // The client knows its request by its own id.
  std::string named_id;
  Slice name;
  if (const auto named = origin ? std::nullopt : client_request_named_by(frame, name)) {
    origin = named;
    named_id = in_flight_.find(named)->client_request_id;
  }
  Question question = made(origin, frame.method, frame.text(frame.params));
  question.upstream_request_id = raw_id;
  question.is_of_session = is_of_session && !question.origin;
  question.line = std::move(frame.bytes);
  const std::string number = std::to_string(question.id);
  splice(question.line, {frame.id, number}, named_id.empty() ? Splice{} : Splice{name, named_id});
  take_in(std::move(question));
}

void Questions::add(UpstreamId origin, std::size_t index, const InputRequest& asked) {
  Question question = made(origin, asked.method, asked.params);
  question.index = index;
  question.line = input_request_line(asked, std::to_string(question.id));
  take_in(std::move(question));
}

void Questions::add(JobNumber job, const InputRequest& asked) {
  Question question = made(std::nullopt, asked.method, asked.params);
  question.key = asked.key;
  question.line = input_request_line(asked, std::to_string(question.id));
  ask({{}, true, true, false, job}, table_.add(std::move(question)));
}

Question Questions::made(std::optional<UpstreamId> origin, std::string_view method,
                         std::string_view params) {
  Question question;
  question.id = table_.next_id();
  question.method = method;
  question.asked_for = asked_for(method, params);
  const bool is_about_own_task = method.starts_with(tasks_prefix);
  if (!origin || is_about_own_task) question.named = client_named_by(method, params);
  if (question.named) origin.reset();
  question.origin = origin;
  if (!origin) {
    question.likely_caller = likely_caller(in_flight_);
    return question;
  }
  question.owner = in_flight_.owner(*origin).client;
  if (const Client* owner = context_.clients.find(question.owner)) {
    question.user = owner->user;
  } else if (const Call* call = in_flight_.find(origin)) {
    question.user = call->user;
  }
  return question;
}

void Questions::take_in(Question question) {
  const auto whom = choose(question, true);
  if (whom && whom->call) {
    question.origin = whom->call;
    if (table_.has_room_for(question.line.size()) && events_.ask_in_result(*whom->call)) {
      ask(*whom, table_.add(std::move(question)));
    } else {
      refuse_in_result(question);
    }
    return;
  }
  // Onlookers are callers of the HTTP frontend: a question about another user's call is not theirs.
  const bool is_watched = onlookers_ != nullptr && onlookers_->has_onlooker() && !question.named &&
                          (!question.origin || (question.user && question.user->remote));
  if (question.named && !whom && !may_answer_later(question)) {
    refuse_named(question);
    return;
  }
  const bool is_about_one = !whom && (question.origin.has_value() || in_flight_.has_modern_call());
  if (!whom && !is_watched && !question.named && (is_about_one || has_reachable_client())) {
    context_.log.peer(
        LogLevel::info, "request of the upstream refused",
        "the upstream asks for {}: no connected client that could be asked has declared it",
        printable(question.method, 80));
    if (is_about_one && question.is_request())
      events_.no_client_declares(question.origin, question.method, question.asked_for);
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
  Question& added = table_.add(std::move(question));
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
  } else if (Client* const client = context_.clients.find(whom.client)) {
    ask(*client, question);
  } else {
    return false;
  }
  return true;
}

void Questions::ask(Client& client, Question& question) {
  question.asked = client.id();
  question.asked_since = context_.loop.now();
  if (question.method == "elicitation/create")
    told_.note(ToldNames::Kind::elicitation, member_text(question.params(), "elicitationId"),
               client.id());
  if (std::string notice = notice_of_caller(question, client); !notice.empty())
    client.channel.send(std::move(notice));
  const std::string_view about = subject(question, client);
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
                       (question->user ? question->user == client.user : !question->origin) &&
                       (question->is_parked() || question->answerer == Question::Answerer::job);
  if (!was_asked && !is_open) {
    ++context_.statistics.unknown_answers;
    context_.log.peer(LogLevel::info, "unknown answer of a client", {.client = client.id()},
                      "unsolicited response of a client dropped");
    return;
  }
  if (was_asked && is_method_not_found(response) && ask_next(*question)) return;
  if (!was_asked) tell_withdrawn(*question, "it was answered");
  if (const std::string_view result = response.text(response.result);
      result.size() <= longest_telling && result.find("taskId") != result.npos) {
    told_.note(ToldNames::Kind::client_task,
               member_text(find_member(result, "task").value_or(""), "taskId"), client.id());
  }
  take_answer(*question, std::move(response));
}

void Questions::take_answer(Question& question, Frame&& response) {
  const JobNumber job = question.answerer == Question::Answerer::job ? question.job : JobNumber{};
  // An elicitation can be cancelled; an error would be of no use to the server.
  if (job != JobNumber{} && response.error.present() && question.method == "elicitation/create")
    response = std::get<Frame>(parse_frame(result_reply("0", cancelled_by_user)));
  if (question.is_request()) {
    splice(response.bytes, {response.id, question.upstream_request_id});
    context_.upstream.respond(std::move(response.bytes));
  } else {
    if (job != JobNumber{})
      context_.jobs->job_question_answered(job, question, response.text(response.result));
    if (question.origin) events_.answered(question, &response);
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
  const auto next = choose(question, false);
  return next && ask(*next, question);
}

/// The client answers nothing more: its questions go to others. Without another client, the
/// session's questions are parked; the upstream must not wait for other questions, nor for those
/// about requests of a client that has left.
void Questions::ask_others(const Client& client, bool has_left) {
  table_.each([&](Question& question) {
    if (question.asked != client.id()) return;
    const Call* const about = in_flight_.find(question.origin);
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
  const auto other = may_be_asked ? choose(question, false) : std::nullopt;
  if (other && ask(*other, question)) return;
  if (question.named && !may_answer_later(question)) {
    refuse_named(question);
    remove(question);
    return;
  }
  if (question.origin || (!may_wait && !question.shown && has_reachable_client())) {
    if (!question.origin) tell_of_refusal(question, in_flight_);
    refuse(question, json_rpc::method_not_found, no_client_answers);
    remove(question);
  } else {
    park(question);
  }
}

void Questions::policy_changed() {
  table_.each([&](Question& question) {
    const Client* const client = context_.clients.find(question.asked);
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
  table_.each([&](Question& question) {
    if (!question.is_parked()) return;
    if (const auto whom = choose(question, false)) ask(*whom, question);
  });
}

void Questions::expire_parked() {
  const SteadyTime now = context_.loop.now();
  table_.each([&](Question& question) {
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
    Client* const client = context_.clients.find(waiter.client);
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
  table_.each([&](Question& question) {
    if (question.asked != client || question.shown_id.empty() || question.shown_about != raw_id)
      return;
    tell_withdrawn(question, {});
    release(question);
  });
}

void Questions::job_over(JobNumber job) {
  table_.each([&](Question& question) {
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
  context_.upstream.respond(result_reply(question.upstream_request_id, result));
  table_.remove(question);
}

void Questions::refuse_in_result(const Question& question) {
  refuse(question.upstream_request_id, json_rpc::method_not_found,
         "Method not found: the client of this request has not answered it");
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
  Question* question = raw_id.empty() ? nullptr : table_.find_by_upstream_id(raw_id);
  if (question == nullptr) {
    ++context_.statistics.dropped_notifications;
    return;
  }
  if (!question->shown_id.empty()) {
    tell_withdrawn(*question, {});
  } else if (Client* client = context_.clients.find(question->asked)) {
    std::string bytes = std::move(notification.bytes);
    const std::string number = std::to_string(question->id);
    splice(bytes, {notification.request_id, number});
    client->channel.send(std::move(bytes));
  }
  remove(*question);
}

/// The answer is no longer needed: tells the client that was asked.
void Questions::withdraw(Question& question, std::string_view reason) {
  const Client* const client = context_.clients.find(question.asked);
  if (client != nullptr && client->channel.can_be_asked({})) tell_withdrawn(question, reason);
  remove(question);
}

void Questions::tell_withdrawn(const Question& question, std::string_view reason) {
  const Client* const client = context_.clients.find(question.asked);
  if (client == nullptr) return;
  if (question.shown_id.empty()) {
    client->channel.send(cancelled(std::to_string(question.id), reason));
  } else {
    client->channel.send_about(question.shown_about,
                               cancelled(question.shown_id, "no answer is needed here any longer"));
  }
}

void Questions::session_replaced() {
  told_.clear();
  table_.each([&](Question& question) {
    if (question.is_of_session) withdraw(question, "the session was lost");
  });
}

void Questions::call_ending(UpstreamId origin) {
  table_.each([&](Question& question) {
    if (question.origin == origin) withdraw(question, "the request that it belongs to has ended");
  });
}

std::vector<Question> Questions::save() {
  std::vector<Question> all;
  table_.each([&](const Question& question) {
    if (!question.origin || in_flight_.survives_upgrade(*question.origin)) all.push_back(question);
  });
  return all;
}

void Questions::restore(std::vector<Question> saved) {
  for (Question& one : saved) {
    Question& question = table_.add(std::move(one));
    if (question.answerer == Question::Answerer::job) {
      release(question);  // waiting clients were answered
    } else if (question.is_parked()) {
      parking_.set_at_latest(question.parked_until);
    } else if (question.asked && context_.clients.find(question.asked) == nullptr) {
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
  in_flight.each([&](UpstreamId id, const Call& call) {
    const bool is_possible = question.origin ? question.origin == id : call.awaits_upstream();
    if (is_possible && call.acts_for_user()) about.push_back(id);
  });
  if (about.size() != 1) return;
  const Call& call = *in_flight.find(about.front());
  const Client* const client = call.client();
  if (client == nullptr || call.era == Era::modern || client->declared.has_declared()) return;
  std::string_view message = find_member(question.params(), "message").value_or("");
  if (!is_string(message) || message.size() > longest_message_shown) message = "null";
  client->channel.send_about(
      call.client_request_id,
      own_notification(
          "notifications/bridge/question_refused",
          JsonObject().add("method", question.method).add("message", RawJson{message}).text()));
}

}  // namespace bridge
