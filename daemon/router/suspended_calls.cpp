#include "router/suspended_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/random.hpp"
#include "json/json_text.hpp"
#include "json/reply.hpp"
#include "mcp/input_required.hpp"
#include "mcp/methods.hpp"
#include "mcp/request_meta.hpp"

namespace bridge {
namespace {

constexpr std::string_view unknown_state =
    "Invalid params: this requestState is not known: it was used before, has expired, or is "
    "another user's. Send the request again without it";
constexpr std::string_view other_request =
    "Invalid params: this requestState was given for another request: method, name and arguments "
    "must be the same";

/// The prefix of the bridge's states, then 128 random bits.
std::string new_state() { return "bridge-" + random_hex(16); }

std::size_t size_of(const Suspension::End& end) {
  const auto* response = std::get_if<Frame>(&end);
  return response != nullptr ? response->bytes.size() : 0;
}

}  // namespace

SuspendedCalls::SuspendedCalls(const RouterContext& context, ByteBudget& budget,
                               RequestsInFlight& in_flight, Questions& questions)
    : context_(context),
      budget_(budget),
      in_flight_(in_flight),
      questions_(questions),
      timer_(context.loop, [this] { expire(); }) {}

bool SuspendedCalls::ask_in_result(UpstreamId id) {
  Call& call = *in_flight_.find(id);
  const std::size_t questions = questions_of(id);
  const bool waits = call.is_suspended() || questions > 0;
  const bool fits = waits ? questions < max_questions : has_room_for(call.user);
  const bool continues =
      waits || call.suspension == nullptr || call.suspension->rounds < max_rounds;
  if (!fits || !continues || budget_.over() || is_ending_) return false;
  if (call.suspension == nullptr) call.suspension = std::make_unique<Suspension>();
  if (!waits) {
    call.suspension->due = context_.loop.now() + gathering_time;
    timer_.set_at_latest(call.suspension->due);
  }
  return true;
}

std::size_t SuspendedCalls::questions_of(UpstreamId id) {
  std::size_t count = 0;
  questions_.each_of(id, [&count](const Question&) { ++count; });
  return count;
}

std::vector<UpstreamId> SuspendedCalls::suspended() const {
  return in_flight_.all([](const Call& call) { return call.is_suspended(); });
}

/// Whether another call may be suspended.
bool SuspendedCalls::has_room_for(const User& user) const {
  const auto all = suspended();
  const auto of_user = std::count_if(
      all.begin(), all.end(), [&](UpstreamId id) { return in_flight_.find(id)->user == user; });
  return static_cast<std::size_t>(of_user) < context_.options.client_inflight &&
         all.size() < context_.options.max_inflight;
}

/// Counts what it keeps against --max-buffered.
void SuspendedCalls::hold(Suspension& suspension) {
  if (!suspension.held) suspension.held = std::make_unique<ByteBudget::Share>(budget_);
  suspension.held->set(suspension.message_bytes + (suspension.end ? size_of(*suspension.end) : 0));
}

/// Asks all questions that may be asked, if any. REQUIRES: a client waits.
void SuspendedCalls::ask(UpstreamId id) {
  Call& call = *in_flight_.find(id);
  const bool may_ask =
      call.suspension->rounds < max_rounds && has_room_for(call.user) && !is_ending_;
  questions_.each_of(id, [&](const Question& one) {
    if (!may_ask || !questions_.may_be_asked_in(id, one)) questions_.refuse_in_result(one);
  });
  if (questions_of(id) > 0) suspend(id, call);
}

void SuspendedCalls::suspend(UpstreamId id, Call& call) {
  Suspension& suspension = *call.suspension;
  ++suspension.rounds;
  suspension.state = new_state();
  suspension.due = context_.loop.now() + context_.options.input_wait;
  timer_.set_at_latest(suspension.due);
  std::vector<InputRequest> requests;
  questions_.each_of(id, [&requests](Question& question) {
    question.key = fmt::format("\"{}\"", requests.size() + 1);
    requests.push_back({question.key, question.method, std::string(question.params())});
  });
  in_flight_.suspend(id, input_required_result(requests, suspension.state));
}

void SuspendedCalls::keep(UpstreamId id, Call& call, Suspension::End end) {
  questions_.call_ending(id);
  Suspension& suspension = *call.suspension;
  suspension.end = std::move(end);
  hold(suspension);
  if (!budget_.over()) return;
  Ending overloaded;
  overloaded.failure = failure_of(
      ErrorKind::overloaded, Delivered::unknown,
      "the answer came while no request waited for it, and too much is buffered (--max-buffered)");
  suspension.end = std::move(overloaded);
  hold(suspension);
}

void SuspendedCalls::keep_message(Call& call, const Frame& message) {
  Suspension& suspension = *call.suspension;
  const std::size_t bytes = message.bytes.size();
  if (budget_.over() || bytes > max_message_bytes) {
    ++context_.statistics.dropped_notifications;
    return;
  }
  suspension.messages.push_back(message.bytes);
  suspension.message_bytes += bytes;
  while (suspension.messages.size() > max_messages ||
         suspension.message_bytes > max_message_bytes) {
    suspension.message_bytes -= suspension.messages.front().size();
    suspension.messages.erase(suspension.messages.begin());
    ++context_.statistics.dropped_notifications;
  }
  hold(suspension);
}

bool SuspendedCalls::take_retry(Client& client, WaitingFrame& request) {
  const Frame& frame = request.frame;
  if (!frame.is_modern() || context_.session.side_for(Era::modern) == Era::modern ||
      !may_require_input(frame.method))
    return false;
  if (!frame.has_input_answers) return false;
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
  const auto found = in_flight_.all([&](const Call& call) {
    return call.is_suspended() && call.user == client.user &&
           call.suspension->state == answers.request_state;
  });
  if (found.empty()) return refuse(unknown_state);
  if (in_flight_.find(found.front())->modern->digest != request_digest(frame))
    return refuse(other_request);
  proceed(found.front(), client, request, answers.responses);
  return true;
}

/// The call now belongs to this client.
void SuspendedCalls::proceed(UpstreamId id, Client& client, const WaitingFrame& request,
                             const std::vector<InputResponse>& responses) {
  Suspension& suspension = *in_flight_.find(id)->suspension;
  suspension.state.clear();
  in_flight_.resume(id, client, request);
  suspension.message_bytes = 0;
  for (std::string& bytes : std::exchange(suspension.messages, {})) {
    auto message = parse_frame(std::move(bytes));
    if (auto* const frame = std::get_if<Frame>(&message)) in_flight_.deliver(id, *frame);
  }
  auto end = std::exchange(suspension.end, std::nullopt);
  hold(suspension);
  if (end) {
    in_flight_.end(id, std::move(*end));
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

void SuspendedCalls::give_up(UpstreamId id, std::string_view reason) {
  questions_.each_of(id, [this](const Question& one) { questions_.refuse_in_result(one); });
  in_flight_.drop_suspended(id, reason);
}

void SuspendedCalls::expire() {
  const SteadyTime now = context_.loop.now();
  for (const UpstreamId id :
       in_flight_.all([](const Call& call) { return call.suspension != nullptr; })) {
    const Call* const call = in_flight_.find(id);
    if (call == nullptr || (!call->is_suspended() && questions_of(id) == 0)) continue;
    if (call->suspension->due > now) {
      timer_.set_at_latest(call->suspension->due);
    } else if (call->is_suspended()) {
      give_up(id, "its question was not answered in time");
    } else {
      ask(id);
    }
  }
}

void SuspendedCalls::end_all() {
  is_ending_ = true;
  for (const UpstreamId id : suspended()) give_up(id, "the bridge is shutting down");
}

void SuspendedCalls::ask_gathered() {
  for (const UpstreamId id : in_flight_.all(
           [](const Call& call) { return call.suspension != nullptr && !call.is_suspended(); })) {
    if (in_flight_.find(id) != nullptr) ask(id);
  }
}

void SuspendedCalls::restore() {
  for (const UpstreamId id :
       in_flight_.all([](const Call& call) { return call.suspension != nullptr; })) {
    Suspension& suspension = *in_flight_.find(id)->suspension;
    auto response = parse_frame(std::exchange(suspension.saved_end, {}));
    if (auto* const frame = std::get_if<Frame>(&response)) suspension.end = std::move(*frame);
    hold(suspension);
    timer_.set_at_latest(suspension.due);
  }
}

}  // namespace bridge
