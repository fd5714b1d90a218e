#include "router/suspended_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <utility>

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

/// 128 random bits, behind what tells whose state it is.
std::string new_state() {
  std::random_device random;
  return fmt::format("bridge-{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

std::size_t size_of(const RequestsInFlight::End& end) {
  const auto* response = std::get_if<Frame>(&end);
  return response != nullptr ? response->bytes.size() : 0;
}

std::string response_of(UpstreamId id, const RequestsInFlight::End& end) {
  if (const auto* response = std::get_if<Frame>(&end)) return response->bytes;
  const auto& failure = std::get<Ending>(end).failure;
  return error_reply(std::to_string(value_of(id)),
                     failure ? *failure
                             : failure_of(ErrorKind::closed, Delivered::unknown,
                                          "the stream of the answer has ended without it"));
}

}  // namespace

SuspendedCalls::SuspendedCalls(const RouterContext& context, ByteBudget& budget,
                               RequestsInFlight& in_flight, const ServerRequests& server_requests)
    : context_(context),
      budget_(budget),
      in_flight_(in_flight),
      subject_(in_flight, server_requests),
      timer_(context.loop, [this] { expire(); }) {}

bool SuspendedCalls::add(std::optional<UpstreamId> origin, const Frame& request) {
  if (!is_question(request.method)) return false;
  const auto id = subject_.call(origin, request);
  if (!id) return false;
  Question question;
  question.raw_id = request.text(request.id);
  question.request = {{}, request.method, std::string(request.text(request.params))};
  question.is_of_session = !origin;
  const auto found = calls_.find(*id);
  const bool waits =
      found != calls_.end() && (!found->second.state.empty() || !found->second.questions.empty());
  const bool fits = waits ? found->second.questions.size() < max_questions : has_room_for(*id);
  const bool goes_on = found == calls_.end() || found->second.rounds < max_rounds || waits;
  if (!fits || !goes_on || budget_.over() || is_ending_) {
    refuse(question);
    return true;
  }
  Call& call = calls_.try_emplace(*id, budget_).first->second;
  call.held.add(request.bytes.size());
  call.questions.push_back(std::move(question));
  if (!waits) gather(call);
  return true;
}

/// Whether one call more may be suspended.
bool SuspendedCalls::has_room_for(UpstreamId id) const {
  const User user = in_flight_.find(id)->user;
  std::size_t of_user = 0;
  for (const auto& [state, call] : states_) of_user += in_flight_.find(call)->user == user ? 1 : 0;
  return of_user < context_.options.client_inflight &&
         states_.size() < context_.options.max_inflight;
}

void SuspendedCalls::refuse(const Question& question) {
  context_.upstream.respond(
      error_reply(question.raw_id, json_rpc::method_not_found,
                  "Method not found: the client of this request has not answered it"));
}

void SuspendedCalls::gather(Call& call) {
  call.due = context_.loop.now() + gathering_time;
  timer_.set_at_latest(call.due);
}

/// Asks all that may be asked, if there is any. REQUIRES: a client waits.
void SuspendedCalls::ask(UpstreamId id) {
  Call& call = calls_.at(id);
  const bool may_ask = call.rounds < max_rounds && has_room_for(id) && !is_ending_;
  std::erase_if(call.questions, [&](const Question& one) {
    if (may_ask && subject_.covers(id, one.request.method, one.request.params)) return false;
    refuse(one);
    return true;
  });
  if (call.questions.empty()) {
    call.held.set(0);
  } else {
    suspend(id, call);
  }
}

void SuspendedCalls::suspend(UpstreamId id, Call& call) {
  ++call.rounds;
  call.state = new_state();
  states_.emplace(call.state, id);
  call.due = context_.loop.now() + context_.options.input_wait;
  timer_.set_at_latest(call.due);
  std::vector<InputRequest> requests;
  for (Question& question : call.questions) {
    question.request.key = fmt::format("\"{}\"", requests.size() + 1);
    requests.push_back(question.request);
  }
  in_flight_.suspend(id, input_required_result(requests, call.state));
}

bool SuspendedCalls::cancel(std::string_view raw_id) {
  for (auto& [id, call] : calls_) {
    const auto found =
        std::find_if(call.questions.begin(), call.questions.end(),
                     [&](const Question& one) { return same_id(one.raw_id, raw_id); });
    if (found == call.questions.end()) continue;
    call.questions.erase(found);
    return true;
  }
  return false;
}

void SuspendedCalls::keep(UpstreamId id, RequestsInFlight::End end) {
  Call& call = calls_.at(id);
  call.questions.clear();
  call.held.set(call.message_bytes + size_of(end));
  if (budget_.over()) {
    Ending overloaded;
    overloaded.failure = failure_of(ErrorKind::overloaded, Delivered::unknown,
                                    "the answer came while nobody waited for it, and too much is "
                                    "buffered (--max-buffered)");
    end = std::move(overloaded);
    call.held.set(call.message_bytes);
  }
  call.end = std::move(end);
}

void SuspendedCalls::drop_oldest_message(Call& call) {
  const std::size_t bytes = call.messages.front().bytes.size();
  call.messages.pop_front();
  call.message_bytes -= bytes;
  call.held.remove(bytes);
  ++context_.statistics.dropped_notifications;
}

void SuspendedCalls::keep_message(UpstreamId id, Frame message) {
  Call& call = calls_.at(id);
  const std::size_t bytes = message.bytes.size();
  if (budget_.over() || bytes > max_message_bytes) {
    ++context_.statistics.dropped_notifications;
    return;
  }
  call.messages.push_back(std::move(message));
  call.message_bytes += bytes;
  call.held.add(bytes);
  while (call.messages.size() > max_messages || call.message_bytes > max_message_bytes)
    drop_oldest_message(call);
}

void SuspendedCalls::pass_messages_on(UpstreamId id, Call& call) {
  call.held.remove(std::exchange(call.message_bytes, 0));
  for (Frame& message : std::exchange(call.messages, {})) in_flight_.pass_on(id, message);
}

void SuspendedCalls::request_ending(UpstreamId id) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) return;
  states_.erase(found->second.state);
  calls_.erase(found);
}

void SuspendedCalls::session_replaced() {
  for (auto& [id, call] : calls_)
    std::erase_if(call.questions, [](const Question& one) { return one.is_of_session; });
}

bool SuspendedCalls::take_retry(Client& client, WaitingFrame& request) {
  const Frame& frame = request.frame;
  if (!frame.is_modern() || context_.session.side_for(Era::modern) == Era::modern ||
      !may_require_input(frame.method))
    return false;
  if (!frame.has_input_answers) return false;
  auto read = read_input_answers(frame);
  if (const auto* reason = std::get_if<std::string_view>(&read)) {
    refuse(client, frame, *reason);
    return true;
  }
  const InputAnswers& answers = std::get<InputAnswers>(read);
  if (!answers.has_state) {
    request.frame = std::get<Frame>(parse_frame(without_input_answers(frame)));
    return false;
  }
  const auto found = states_.find(answers.request_state);
  const PendingRequest* const pending =
      found == states_.end() ? nullptr : in_flight_.find(found->second);
  if (pending == nullptr || !(pending->user == client.user)) {
    refuse(client, frame, unknown_state);
  } else if (pending->modern->digest != request_digest(frame)) {
    refuse(client, frame, other_request);
  } else {
    go_on(found->second, client, request, answers.responses);
  }
  return true;
}

/// The call is this client's from now on.
void SuspendedCalls::go_on(UpstreamId id, Client& client, const WaitingFrame& request,
                           const std::vector<InputResponse>& responses) {
  Call& call = calls_.at(id);
  states_.erase(std::exchange(call.state, {}));
  in_flight_.resume(id, client, request);
  pass_messages_on(id, call);
  if (call.end) {
    in_flight_.end(id, std::move(*std::exchange(call.end, std::nullopt)));
    return;
  }
  std::erase_if(call.questions, [&](const Question& question) {
    const std::string_view key = question.request.key;
    if (key.empty()) return false;  // it came in the meantime
    const auto response =
        std::find_if(responses.begin(), responses.end(),
                     [key](const InputResponse& one) { return same_id(one.key, key); });
    if (response == responses.end()) return false;
    context_.upstream.respond(result_reply(question.raw_id, response->result));
    return true;
  });
  ask(id);
}

void SuspendedCalls::refuse(Client& client, const Frame& request, std::string_view reason) {
  context_.statistics.end(class_of(request.method), Outcome::error);
  const std::string_view id = request.text(request.id);
  client.channel.answer(id, error_reply(id, json_rpc::invalid_params, reason),
                        AnswerOrder::in_order);
}

void SuspendedCalls::give_up(UpstreamId id, std::string_view reason) {
  for (const Question& question : calls_.at(id).questions) refuse(question);
  in_flight_.drop_suspended(id, reason);
}

void SuspendedCalls::expire() {
  const SteadyTime now = context_.loop.now();
  std::vector<UpstreamId> gathered;
  std::vector<UpstreamId> over;
  for (const auto& [id, call] : calls_) {
    if (call.questions.empty() && call.state.empty()) continue;
    if (call.due <= now) {
      (call.state.empty() ? gathered : over).push_back(id);
    } else {
      timer_.set_at_latest(call.due);
    }
  }
  for (const UpstreamId id : gathered) {
    if (calls_.contains(id)) ask(id);
  }
  for (const UpstreamId id : over) {
    if (calls_.contains(id)) give_up(id, "what it asked was not answered in time");
  }
}

void SuspendedCalls::end_all() {
  is_ending_ = true;
  std::vector<UpstreamId> all;
  for (const auto& [state, id] : states_) all.push_back(id);
  for (const UpstreamId id : all) give_up(id, "the bridge is shutting down");
}

void SuspendedCalls::ask_gathered() {
  std::vector<UpstreamId> gathered;
  for (const auto& [id, call] : calls_) {
    if (call.state.empty() && !call.questions.empty()) gathered.push_back(id);
  }
  for (const UpstreamId id : gathered) {
    if (calls_.contains(id)) ask(id);
  }
}

std::vector<SuspendedCalls::Saved> SuspendedCalls::save() const {
  std::vector<Saved> all;
  for (const auto& [id, call] : calls_) {
    if (!in_flight_.survives_upgrade(id)) continue;
    Saved& saved = all.emplace_back(Saved{id, call, {}, {}});
    for (const Frame& message : call.messages) saved.messages.push_back(message.bytes);
    if (call.end) saved.end = response_of(id, *call.end);
  }
  return all;
}

void SuspendedCalls::restore(std::vector<Saved> saved) {
  for (Saved& one : saved) {
    if (in_flight_.find(one.id) == nullptr) continue;
    Call& call = calls_.try_emplace(one.id, budget_).first->second;
    static_cast<Suspended&>(call) = std::move(one.call);
    if (!call.state.empty()) states_.emplace(call.state, one.id);
    for (const Question& question : call.questions) call.held.add(question.request.params.size());
    for (std::string& bytes : one.messages) {
      auto message = parse_frame(std::move(bytes));
      if (auto* frame = std::get_if<Frame>(&message)) keep_message(one.id, std::move(*frame));
    }
    auto response = parse_frame(std::move(one.end));
    if (auto* frame = std::get_if<Frame>(&response)) keep(one.id, std::move(*frame));
    timer_.set_at_latest(call.due);
  }
}

}  // namespace bridge
