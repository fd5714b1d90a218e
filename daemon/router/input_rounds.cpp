#include "router/input_rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

namespace bridge {
namespace {

constexpr std::string_view cancelled_by_user = R"({"action":"cancel"})";

Failure wrong_result(std::string_view reason) {
  return failure_of(
      ErrorKind::malformed, Delivered::unknown,
      fmt::format("the upstream asks in a way that cannot be understood: {}", reason));
}

Failure unanswered(std::string_view method, bool somebody_was_asked) {
  return failure_of(
      ErrorKind::no_client, Delivered::unknown,
      fmt::format("the upstream asks for {}, and {}", method,
                  somebody_was_asked
                      ? "the client that was asked has answered with an error"
                      : "no connected client that could be asked has declared that it answers"));
}

/// The next pause of a request that was answered without a question so often before.
std::chrono::milliseconds pause_after(unsigned pauses) {
  return std::min(InputRounds::longest_pause, InputRounds::first_pause * (1 << pauses));
}

}  // namespace

InputRounds::InputRounds(const RouterContext& context, ByteBudget& budget,
                         RequestsInFlight& in_flight, ServerRequests& server_requests)
    : context_(context),
      budget_(budget),
      in_flight_(in_flight),
      server_requests_(server_requests),
      timer_(context.loop, [this] { expire(); }),
      settled_(context.loop, [this] { settle(); }) {}

void InputRounds::asked(UpstreamId id, const Frame& response) {
  InputRound& told = *in_flight_.find(id)->rounds;
  if (++told.rounds > max_rounds) {
    fail(id, failure_of(ErrorKind::overloaded, Delivered::unknown,
                        fmt::format("the upstream has asked {} times and asks again", max_rounds)));
    return;
  }
  auto required = read_input_required(response.text(response.result));
  if (const auto* reason = std::get_if<std::string_view>(&required)) {
    fail(id, wrong_result(*reason));
    return;
  }
  begin(id, std::move(std::get<InputRequired>(required)), told);
}

void InputRounds::begin(UpstreamId id, InputRequired required, InputRound& told) {
  Round& round = rounds_.emplace(id, budget_).first->second;
  round.request_state = std::move(required.request_state);
  round.held.set(told.original.size() + round.request_state.size());
  if (required.requests.empty()) {
    wait(round, Waits::for_pause, pause_after(told.pauses++));
    return;
  }
  told.pauses = 0;
  // Of a job, whoever has it sees to that.
  constexpr std::chrono::hours unbounded{24 * 3660};
  wait(round, Waits::for_answers,
       in_flight_.is_job(id) ? SteadyTime::duration(unbounded) : context_.options.input_wait);
  for (const InputRequest& request : required.requests)
    round.questions.push_back({request.key, request.method, {}});
  for (std::size_t place = 0; place < required.requests.size(); ++place)
    server_requests_.add(id, place, required.requests[place]);
}

void InputRounds::wait(Round& round, Waits waits, SteadyTime::duration time) {
  round.waits = waits;
  round.due = context_.loop.now() + time;
  timer_.set_at_latest(round.due);
}

void InputRounds::question_answered(UpstreamId id, std::size_t place, const Frame* response) {
  const auto found = rounds_.find(id);
  if (found == rounds_.end()) return;
  Round& round = found->second;
  Question& question = round.questions[place];
  if (response != nullptr && response->result.present()) {
    question.result = response->text(response->result);
  } else if (question.method == "elicitation/create") {
    question.result = cancelled_by_user;
  } else if (!round.failure) {
    round.failure = unanswered(question.method, response != nullptr);
  }
  round.held.add(question.result.size());
  settled_.schedule();
}

/// At the end of the turn, since nothing may end while the questions are walked through.
void InputRounds::settle() {
  for (const UpstreamId id : ids()) {
    const auto found = rounds_.find(id);
    if (found == rounds_.end() || found->second.waits != Waits::for_answers) continue;
    const Round& round = found->second;
    if (round.failure) {
      fail(id, Failure(*round.failure));
    } else if (std::none_of(round.questions.begin(), round.questions.end(),
                            [](const Question& one) { return one.result.empty(); })) {
      go_on(id);
    }
  }
}

/// Sends the request again, as soon as there is a session.
void InputRounds::go_on(UpstreamId id) {
  Session& session = context_.session;
  if (session.side_for(Era::modern) != Era::modern) {
    fail(id, failure_of(ErrorKind::session, Delivered::unknown,
                        "the upstream that has asked was replaced by one of an older revision"));
    return;
  }
  if (!session.is_open(Era::modern)) {
    wait(rounds_.at(id), Waits::for_session, context_.options.connect_wait);
    session.require(Era::modern);
    return;
  }
  const auto ended = rounds_.extract(id);
  std::vector<InputResponse> responses;
  for (const Question& question : ended.mapped().questions)
    responses.push_back({question.key, question.result});
  const auto original = parse_frame(in_flight_.find(id)->rounds->original);
  auto again = parse_frame(retry_request(std::get<Frame>(original), std::to_string(value_of(id)),
                                         responses, ended.mapped().request_state));
  if (auto* frame = std::get_if<Frame>(&again)) {
    in_flight_.retry(id, std::move(*frame));
  } else {
    in_flight_.give_up(id, wrong_result(std::get<FrameFault>(again).reason));
  }
}

void InputRounds::fail(UpstreamId id, const Failure& failure) {
  rounds_.erase(id);
  in_flight_.give_up(id, failure);
}

void InputRounds::expire() {
  const SteadyTime now = context_.loop.now();
  for (const UpstreamId id : ids()) {
    const auto found = rounds_.find(id);
    if (found == rounds_.end()) continue;
    if (found->second.due > now) {
      timer_.set_at_latest(found->second.due);
    } else if (found->second.waits == Waits::for_pause) {
      go_on(id);
    } else if (found->second.waits == Waits::for_answers) {
      fail(id, failure_of(ErrorKind::timeout, Delivered::unknown,
                          fmt::format("what the upstream asks was not answered within {} ms "
                                      "(--input-wait)",
                                      context_.options.input_wait.count())));
    } else {
      fail(id, failure_of(ErrorKind::timeout, Delivered::unknown,
                          fmt::format("the session with the upstream was lost while it waited for "
                                      "answers, and did not come back within {} ms "
                                      "(--connect-wait)",
                                      context_.options.connect_wait.count())));
    }
  }
}

void InputRounds::session_open() {
  for (const UpstreamId id : ids()) {
    const auto found = rounds_.find(id);
    if (found != rounds_.end() && found->second.waits == Waits::for_session) go_on(id);
  }
}

void InputRounds::session_closed() {
  if (wait_for_session()) context_.session.require(Era::modern);
}

void InputRounds::fail_waiting(const Failure& failure) {
  for (const UpstreamId id : ids()) {
    const auto found = rounds_.find(id);
    if (found == rounds_.end() || found->second.waits != Waits::for_session) continue;
    Failure asked_before = failure;
    asked_before.delivered = Delivered::unknown;
    fail(id, asked_before);
  }
}

bool InputRounds::wait_for_session() const {
  return std::any_of(rounds_.begin(), rounds_.end(),
                     [](const auto& entry) { return entry.second.waits == Waits::for_session; });
}

std::vector<UpstreamId> InputRounds::ids() const {
  std::vector<UpstreamId> all;
  for (const auto& [id, round] : rounds_) all.push_back(id);
  return all;
}

std::map<UpstreamId, InputRounds::Saved> InputRounds::save() const {
  std::map<UpstreamId, Saved> all;
  for (const auto& [id, round] : rounds_) {
    if (!round.failure && in_flight_.survives_upgrade(id)) all.emplace(id, round);
  }
  return all;
}

void InputRounds::restore(std::map<UpstreamId, Saved>&& saved) {
  for (auto& [id, one] : saved) {
    const PendingRequest* const request = in_flight_.find(id);
    if (request == nullptr || !request->rounds) continue;
    Round& round = rounds_.emplace(id, budget_).first->second;
    static_cast<Saved&>(round) = std::move(one);
    round.held.set(request->rounds->original.size() + round.request_state.size());
    for (const Question& question : round.questions) round.held.add(question.result.size());
    timer_.set_at_latest(round.due);
    settled_.schedule();
  }
}

}  // namespace bridge
