#include "router/crossing/crossings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "mcp/methods.hpp"

namespace bridge {
namespace {

constexpr std::string_view unknown_state =
    "Invalid params: this requestState is not known: it was used before, has expired, or is "
    "another user's. Send the request again without it";
constexpr std::string_view other_request =
    "Invalid params: this requestState was given for another request: method, name and arguments "
    "must be the same";

bool waits_at_bridge(const Call& call) { return call.waits_at_bridge(); }

bool may_ask_client(const Call& call) { return call.may_ask_client(); }

bool was_asked(const Call& call) {
  return call.to_legacy != nullptr && call.to_legacy->was_asked();
}

}  // namespace

Crossings::Crossings(const RouterContext& context, ByteBudget& budget, RequestsInFlight& in_flight,
                     Questions& questions)
    : context_(context),
      budget_(budget),
      in_flight_(in_flight),
      questions_(questions),
      waits_(context.loop, [this] { expire_waiting(); }),
      suspensions_(context.loop, [this] { expire_suspended(); }),
      settled_(context.loop, [this] { proceed_answered(); }) {}

// Legacy callers' calls.

void Crossings::server_asks(UpstreamId id, Call& call, std::string_view result,
                            const std::vector<std::string>& answers) {
  using Waits = LegacyToModern::Waits;
  auto read = call.to_modern->take_questions(result, answers);
  if (const auto* failure = std::get_if<Failure>(&read)) {
    in_flight_.give_up(id, *failure);
    return;
  }
  const auto& questions = std::get<std::vector<InputRequest>>(read);
  call.to_modern->hold(budget_);
  if (questions.empty()) {
    wait(call, Waits::for_pause, call.to_modern->next_pause());
    return;
  }
  wait(call, Waits::for_answers, context_.options.input_wait);
  settled_.schedule();
  for (std::size_t index = answers.size(); index < questions.size(); ++index)
    questions_.take_question(id, index, questions[index]);
}

void Crossings::wait(const Call& call, LegacyToModern::Waits what, SteadyTime::duration time) {
  const bool is_bounded = call.job == nullptr || what == LegacyToModern::Waits::for_pause;
  call.to_modern->wait(what, is_bounded ? context_.loop.now() + time : SteadyTime::max());
  if (is_bounded) waits_.set_at_latest(call.to_modern->due());
}

void Crossings::question_answered(const Question& question, const Frame* response) {
  const Call* const call = in_flight_.find_call(question.origin);
  if (call == nullptr || !call->waits_at_bridge()) return;
  call->to_modern->take_answer(question.index, question.method, response);
  call->to_modern->hold(budget_);
  settled_.schedule();
}

/// The calls that wait for this, in order of ids.
std::vector<UpstreamId> Crossings::waiting(LegacyToModern::Waits what) const {
  return in_flight_.calls().all([what](const Call& call) {
    return call.to_modern != nullptr && call.to_modern->waits() == what;
  });
}

bool Crossings::wait_for_session() const {
  return !waiting(LegacyToModern::Waits::for_session).empty();
}

/// At the end of the turn, because no call may end while questions are iterated.
void Crossings::proceed_answered() {
  for (const UpstreamId id : waiting(LegacyToModern::Waits::for_answers)) {
    const Call* const call = in_flight_.find_call(id);
    if (call == nullptr) continue;
    if (const auto& failure = call->to_modern->failure()) {
      in_flight_.give_up(id, Failure(*failure));
    } else if (call->to_modern->has_all_answers()) {
      proceed(id);
    }
  }
}

/// Sends the request again as soon as there is a session.
void Crossings::proceed(UpstreamId id) {
  Session& session = context_.session;
  const Call& call = *in_flight_.find_call(id);
  if (session.side_for(Era::modern) != Era::modern) {
    in_flight_.give_up(
        id, failure_of(ErrorKind::session, Delivered::unknown,
                       "the upstream that has asked was replaced by one of an older revision"));
    return;
  }
  if (!session.stateless().is_open()) {
    wait(call, LegacyToModern::Waits::for_session, context_.options.connect_wait);
    session.require(Era::modern);
    return;
  }
  auto again = call.to_modern->next_request(id);
  if (auto* frame = std::get_if<Frame>(&again)) {
    in_flight_.send_again(id, std::move(*frame));
  } else {
    in_flight_.give_up(id, std::get<Failure>(again));
  }
}

Failure Crossings::failure_of_wait(LegacyToModern::Waits what) const {
  if (what == LegacyToModern::Waits::for_answers) {
    return failure_of(
        ErrorKind::timeout, Delivered::unknown,
        fmt::format("the upstream's question was not answered within {} ms (--input-wait)",
                    context_.options.input_wait.count()));
  }
  return failure_of(ErrorKind::timeout, Delivered::unknown,
                    fmt::format("the session with the upstream was lost while it waited for "
                                "answers, and did not come back within {} ms (--connect-wait)",
                                context_.options.connect_wait.count()));
}

void Crossings::expire_waiting() {
  const SteadyTime now = context_.loop.now();
  for (const UpstreamId id : in_flight_.calls().all(waits_at_bridge)) {
    const Call* const call = in_flight_.find_call(id);
    if (call == nullptr) continue;
    const LegacyToModern& crossing = *call->to_modern;
    if (crossing.due() > now) {
      if (crossing.due() != SteadyTime::max()) waits_.set_at_latest(crossing.due());
    } else if (crossing.waits() == LegacyToModern::Waits::for_pause) {
      proceed(id);
    } else {
      in_flight_.give_up(id, failure_of_wait(crossing.waits()));
    }
  }
}

void Crossings::session_open() {
  for (const UpstreamId id : waiting(LegacyToModern::Waits::for_session)) {
    if (in_flight_.find_call(id) != nullptr) proceed(id);
  }
}

void Crossings::session_closed() {
  if (wait_for_session()) context_.session.require(Era::modern);
}

void Crossings::fail_waiting(const Failure& failure) {
  Failure asked_before = failure;
  asked_before.delivered = Delivered::unknown;
  for (const UpstreamId id : waiting(LegacyToModern::Waits::for_session))
    in_flight_.give_up(id, asked_before);
}

// Modern clients' calls.

bool Crossings::ask_in_result(UpstreamId id) {
  const Call& call = *in_flight_.find_call(id);
  ModernToLegacy& crossing = *call.to_legacy;
  const std::size_t questions = questions_of(id);
  const bool waits = crossing.is_suspended() || questions > 0;
  const bool fits = waits ? questions < ModernToLegacy::max_questions : has_room_for(call.user);
  if (!fits || !(waits || crossing.may_ask_again()) || budget_.over() || is_ending_) return false;
  if (!waits) {
    crossing.wait(context_.loop.now() + ModernToLegacy::gathering_time);
    suspensions_.set_at_latest(crossing.due());
  }
  return true;
}

std::size_t Crossings::questions_of(UpstreamId id) {
  std::size_t count = 0;
  questions_.each_of(id, [&count](const Question&) { ++count; });
  return count;
}

std::vector<UpstreamId> Crossings::suspended() const {
  return in_flight_.calls().all([](const Call& call) { return call.is_suspended(); });
}

/// Whether another call may be suspended.
bool Crossings::has_room_for(const User& user) const {
  const auto all = suspended();
  const auto of_user = std::count_if(all.begin(), all.end(), [&](UpstreamId id) {
    return in_flight_.find_call(id)->user == user;
  });
  return static_cast<std::size_t>(of_user) < context_.options.client_inflight &&
         all.size() < context_.options.max_inflight;
}

/// Asks all questions that may be asked, if any. REQUIRES: a client waits.
void Crossings::ask(UpstreamId id) {
  const Call& call = *in_flight_.find_call(id);
  const bool may_ask = call.to_legacy->may_ask_again() && has_room_for(call.user) && !is_ending_;
  questions_.each_of(id, [&](const Question& one) {
    if (!may_ask || !questions_.answerers().may_be_asked_in(id, one))
      questions_.refuse_unanswered(one);
  });
  std::vector<InputRequest> requests;
  questions_.each_of(id, [&requests](Question& question) {
    question.key = fmt::format("\"{}\"", requests.size() + 1);
    requests.push_back({question.key, question.method, std::string(question.params())});
  });
  if (requests.empty()) return;
  const SteadyTime until = context_.loop.now() + context_.options.input_wait;
  suspensions_.set_at_latest(until);
  in_flight_.suspend(id, until, requests);
}

void Crossings::suspended_ended(UpstreamId id, Call& call, ModernToLegacy::End end) {
  questions_.call_ending(id);
  call.to_legacy->keep_end(std::move(end), budget_);
}

void Crossings::suspended_notified(Call& call, const Frame& message) {
  context_.statistics.dropped_notifications += call.to_legacy->keep_message(message, budget_);
}

bool Crossings::take_retry(Client& client, WaitingFrame& request) {
  const Frame& frame = request.frame;
  if (!frame.is_modern() || !frame.has_input_answers ||
      context_.session.side_for(Era::modern) == Era::modern || !may_require_input(frame.method))
    return false;
  const auto refuse = [&](std::string_view reason) {
    context_.request_log.answer_error(client, frame, json_rpc::invalid_params, reason);
    return true;
  };
  auto read = read_input_answers(frame);
  if (const auto* reason = std::get_if<std::string_view>(&read)) return refuse(*reason);
  const InputAnswers& answers = std::get<InputAnswers>(read);
  if (!answers.has_state) {
    request.frame = std::get<Frame>(parse_frame(without_input_answers(frame)));
    return false;
  }
  const auto found = in_flight_.calls().all([&](const Call& call) {
    return call.user == client.user && call.grant == client.grant_id() &&
           call.to_legacy != nullptr && call.to_legacy->has_state(answers.request_state);
  });
  if (found.empty()) return refuse(unknown_state);
  if (!in_flight_.find_call(found.front())->to_legacy->is_of(frame)) return refuse(other_request);
  take_over(found.front(), client, request, answers.responses);
  return true;
}

/// The call now belongs to this client.
void Crossings::take_over(UpstreamId id, Client& client, const WaitingFrame& request,
                          const std::vector<InputResponse>& responses) {
  ModernToLegacy::Kept kept = in_flight_.resume(id, client, request);
  for (std::string& bytes : kept.messages) {
    auto message = parse_frame(std::move(bytes));
    if (auto* const frame = std::get_if<Frame>(&message)) in_flight_.deliver(id, *frame);
  }
  if (kept.end) {
    in_flight_.end_request(id, std::move(*kept.end));
    return;
  }
  questions_.each_of(id, [&](const Question& question) {
    if (question.key.empty()) return;  // it arrived meanwhile
    const auto response =
        std::find_if(responses.begin(), responses.end(),
                     [&](const InputResponse& one) { return same_id(one.key, question.key); });
    if (response != responses.end()) questions_.answer_with(question, response->result);
  });
  ask(id);
}

void Crossings::drop(UpstreamId id, std::string_view reason) {
  questions_.each_of(id, [this](const Question& one) { questions_.refuse_unanswered(one); });
  in_flight_.drop_suspended(id, reason);
}

void Crossings::expire_suspended() {
  const SteadyTime now = context_.loop.now();
  for (const UpstreamId id : in_flight_.calls().all(was_asked)) {
    const Call* const call = in_flight_.find_call(id);
    if (call == nullptr || (!call->is_suspended() && questions_of(id) == 0)) continue;
    if (call->to_legacy->due() > now) {
      suspensions_.set_at_latest(call->to_legacy->due());
    } else if (call->is_suspended()) {
      drop(id, "its question was not answered in time");
    } else {
      ask(id);
    }
  }
}

void Crossings::end_suspended() {
  is_ending_ = true;
  for (const UpstreamId id : suspended()) drop(id, "the bridge is shutting down");
}

void Crossings::note_undeclared(std::optional<UpstreamId> id, std::string_view method,
                                AskedFor asked) {
  if (asked == AskedFor::anything) return;
  if (id) {
    Call* const call = in_flight_.find_call(*id);
    if (call != nullptr && call->to_legacy != nullptr)
      call->to_legacy->note_undeclared(method, asked, false);
    return;
  }
  const bool is_one_of_several =
      in_flight_.calls()
          .all([](const Call& call) {
            return call.awaits_upstream() && call.acts_for_user() && call.side == Era::legacy;
          })
          .size() > 1;
  for (const UpstreamId each : in_flight_.calls().all(may_ask_client)) {
    ModernToLegacy& crossing = *in_flight_.find_call(each)->to_legacy;
    if (crossing.undeclared().empty()) crossing.note_undeclared(method, asked, is_one_of_several);
  }
}

void Crossings::crossing_ended(const ModernToLegacy& ended, const Frame& response) {
  if (ended.undeclared().empty() || !ended.is_one_of_several() || !has_failed(response)) return;
  for (const UpstreamId id :
       in_flight_.calls().all([](const Call& call) { return call.to_legacy != nullptr; }))
    in_flight_.find_call(id)->to_legacy->clear_undeclared_of(ended);
}

void Crossings::ask_gathered() {
  for (const UpstreamId id : in_flight_.calls().all(
           [](const Call& call) { return was_asked(call) && !call.is_suspended(); })) {
    if (in_flight_.find_call(id) != nullptr) ask(id);
  }
}

void Crossings::restore() {
  for (const UpstreamId id : in_flight_.calls().all(waits_at_bridge)) {
    LegacyToModern& crossing = *in_flight_.find_call(id)->to_modern;
    crossing.hold(budget_);
    if (crossing.due() != SteadyTime::max()) waits_.set_at_latest(crossing.due());
    settled_.schedule();
  }
  for (const UpstreamId id : in_flight_.calls().all(was_asked)) {
    ModernToLegacy& crossing = *in_flight_.find_call(id)->to_legacy;
    crossing.restore(budget_);
    suspensions_.set_at_latest(crossing.due());
  }
}

}  // namespace bridge
