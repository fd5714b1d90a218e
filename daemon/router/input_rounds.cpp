#include "router/input_rounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

namespace bridge {
namespace {

Failure wrong_result(std::string_view reason) {
  return failure_of(ErrorKind::malformed, Delivered::unknown,
                    fmt::format("the upstream's question is malformed: {}", reason));
}

Failure unanswered(std::string_view method, bool client_was_asked) {
  return failure_of(
      ErrorKind::no_client, Delivered::unknown,
      fmt::format("the upstream asks for {}, and {}", method,
                  client_was_asked
                      ? "the client that was asked has answered with an error"
                      : "no connected client that could be asked has declared that it answers"));
}

/// The next pause after this many results without a question.
std::chrono::milliseconds pause_after(unsigned pauses) {
  return std::min(InputRounds::longest_pause, InputRounds::first_pause * (1 << pauses));
}

}  // namespace

InputRounds::InputRounds(const RouterContext& context, ByteBudget& budget,
                         RequestsInFlight& in_flight, Questions& questions)
    : context_(context),
      budget_(budget),
      in_flight_(in_flight),
      questions_(questions),
      timer_(context.loop, [this] { expire(); }),
      settled_(context.loop, [this] { settle(); }) {}

void InputRounds::begin(UpstreamId id, Call& call, std::string_view result,
                        const std::vector<std::string>& answers) {
  InputRound& round = *call.rounds;
  if (++round.rounds > max_rounds) {
    in_flight_.give_up(
        id, failure_of(ErrorKind::overloaded, Delivered::unknown,
                       fmt::format("the upstream has asked {} times and asks again", max_rounds)));
    return;
  }
  auto read = read_input_required(result);
  if (const auto* reason = std::get_if<std::string_view>(&read)) {
    in_flight_.give_up(id, wrong_result(*reason));
    return;
  }
  InputRequired& required = std::get<InputRequired>(read);
  round.request_state = std::move(required.request_state);
  round.answers.clear();
  for (const InputRequest& request : required.requests) round.answers.push_back({request.key, {}});
  const std::size_t answered = std::min(answers.size(), round.answers.size());
  for (std::size_t index = 0; index < answered; ++index)
    round.answers[index].result = answers[index];
  hold(round);
  if (required.requests.empty()) {
    wait(call, InputRound::Waits::for_pause, pause_after(round.pauses++));
    return;
  }
  round.pauses = 0;
  wait(call, InputRound::Waits::for_answers, context_.options.input_wait);
  settled_.schedule();
  for (std::size_t index = answered; index < required.requests.size(); ++index)
    questions_.add(id, index, required.requests[index]);
}

void InputRounds::hold(InputRound& round) {
  if (!round.held) round.held = std::make_unique<ByteBudget::Share>(budget_);
  std::size_t bytes = round.original.size() + round.request_state.size();
  for (const InputResponse& answer : round.answers) bytes += answer.result.size();
  round.held->set(bytes);
}

void InputRounds::wait(const Call& call, InputRound::Waits waits, SteadyTime::duration time) {
  InputRound& round = *call.rounds;
  const bool is_bounded = call.job == nullptr || waits == InputRound::Waits::for_pause;
  round.waits = waits;
  round.due = is_bounded ? context_.loop.now() + time : SteadyTime::max();
  if (is_bounded) timer_.set_at_latest(round.due);
}

void InputRounds::question_answered(const Question& question, const Frame* response) {
  const Call* const call = in_flight_.find(question.origin);
  if (call == nullptr || call->stage != Call::Stage::input_required) return;
  InputRound& round = *call->rounds;
  std::string& answer = round.answers[question.index].result;
  if (response != nullptr && response->result.present()) {
    answer = response->text(response->result);
  } else if (question.method == "elicitation/create") {
    answer = cancelled_by_user;
  } else if (!round.failure) {
    round.failure = unanswered(question.method, response != nullptr);
  }
  hold(round);
  settled_.schedule();
}

/// The calls that wait for this, in order of ids.
std::vector<UpstreamId> InputRounds::waiting(InputRound::Waits what) const {
  return in_flight_.all([what](const Call& call) {
    return call.stage == Call::Stage::input_required && call.rounds->waits == what;
  });
}

/// At the end of the turn, because no call may end while questions are iterated.
void InputRounds::settle() {
  for (const UpstreamId id : waiting(InputRound::Waits::for_answers)) {
    const Call* const call = in_flight_.find(id);
    if (call == nullptr) continue;
    const InputRound& round = *call->rounds;
    if (round.failure) {
      in_flight_.give_up(id, Failure(*round.failure));
    } else if (std::none_of(round.answers.begin(), round.answers.end(),
                            [](const InputResponse& one) { return one.result.empty(); })) {
      proceed(id);
    }
  }
}

/// Sends the request again as soon as there is a session.
void InputRounds::proceed(UpstreamId id) {
  Session& session = context_.session;
  const Call& call = *in_flight_.find(id);
  const InputRound& round = *call.rounds;
  if (session.side_for(Era::modern) != Era::modern) {
    in_flight_.give_up(
        id, failure_of(ErrorKind::session, Delivered::unknown,
                       "the upstream that has asked was replaced by one of an older revision"));
    return;
  }
  if (!session.is_open(Era::modern)) {
    wait(call, InputRound::Waits::for_session, context_.options.connect_wait);
    session.require(Era::modern);
    return;
  }
  const auto original = parse_frame(round.original);
  auto again = parse_frame(retry_request(std::get<Frame>(original), std::to_string(value_of(id)),
                                         round.answers, round.request_state));
  in_flight_.find(id)->rounds->held.reset();
  if (auto* frame = std::get_if<Frame>(&again)) {
    in_flight_.send_again(id, std::move(*frame));
  } else {
    in_flight_.give_up(id, wrong_result(std::get<FrameFault>(again).reason));
  }
}

void InputRounds::expire() {
  const SteadyTime now = context_.loop.now();
  for (const UpstreamId id :
       in_flight_.all([](const Call& call) { return call.stage == Call::Stage::input_required; })) {
    const Call* const call = in_flight_.find(id);
    if (call == nullptr) continue;
    const InputRound& round = *call->rounds;
    if (round.due > now) {
      if (round.due != SteadyTime::max()) timer_.set_at_latest(round.due);
    } else if (round.waits == InputRound::Waits::for_pause) {
      proceed(id);
    } else if (round.waits == InputRound::Waits::for_answers) {
      in_flight_.give_up(
          id, failure_of(ErrorKind::timeout, Delivered::unknown,
                         fmt::format(
                             "the upstream's question was not answered within {} ms (--input-wait)",
                             context_.options.input_wait.count())));
    } else {
      in_flight_.give_up(
          id, failure_of(ErrorKind::timeout, Delivered::unknown,
                         fmt::format("the session with the upstream was lost while it waited for "
                                     "answers, and did not come back within {} ms "
                                     "(--connect-wait)",
                                     context_.options.connect_wait.count())));
    }
  }
}

void InputRounds::session_open() {
  for (const UpstreamId id : waiting(InputRound::Waits::for_session)) {
    if (in_flight_.find(id) != nullptr) proceed(id);
  }
}

void InputRounds::session_closed() {
  if (wait_for_session()) context_.session.require(Era::modern);
}

void InputRounds::fail_waiting(const Failure& failure) {
  Failure asked_before = failure;
  asked_before.delivered = Delivered::unknown;
  for (const UpstreamId id : waiting(InputRound::Waits::for_session))
    in_flight_.give_up(id, asked_before);
}

void InputRounds::restore() {
  for (const UpstreamId id :
       in_flight_.all([](const Call& call) { return call.stage == Call::Stage::input_required; })) {
    InputRound& round = *in_flight_.find(id)->rounds;
    hold(round);
    if (round.due != SteadyTime::max()) timer_.set_at_latest(round.due);
    settled_.schedule();
  }
}

}  // namespace bridge
