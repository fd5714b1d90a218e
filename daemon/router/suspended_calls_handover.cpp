// Suspended calls that another image of the program goes on with.
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "json/reply.hpp"
#include "router/suspended_calls.hpp"

namespace bridge {
namespace {

std::string response_of(UpstreamId id, const RequestsInFlight::End& end) {
  if (const auto* response = std::get_if<Frame>(&end)) return response->bytes;
  const auto& failure = std::get<Ending>(end).failure;
  return error_reply(std::to_string(value_of(id)),
                     failure ? *failure
                             : failure_of(ErrorKind::closed, Delivered::unknown,
                                          "the stream of the answer has ended without it"));
}

}  // namespace

void SuspendedCalls::ask_gathered() {
  std::vector<UpstreamId> gathered;
  for (const auto& [id, call] : calls_) {
    if (call.state.empty() && !call.questions.empty()) gathered.push_back(id);
  }
  for (const UpstreamId id : gathered) {
    if (calls_.contains(id)) ask(id);
  }
}

std::vector<KeptCall> SuspendedCalls::to_keep() const {
  std::vector<KeptCall> all;
  for (const auto& [id, call] : calls_) {
    if (!in_flight_.survives_upgrade(id)) continue;
    KeptCall kept;
    kept.id = value_of(id);
    kept.state = call.state;
    for (const Question& one : call.questions) {
      kept.questions.push_back(
          {one.raw_id, one.request.key, one.request.method, one.request.params, one.is_of_session});
    }
    for (const Frame& message : call.messages) kept.messages.push_back(message.bytes);
    kept.rounds = call.rounds;
    if (call.end) kept.end = response_of(id, *call.end);
    kept.due = ticks_of(call.due);
    all.push_back(std::move(kept));
  }
  return all;
}

void SuspendedCalls::go_on_with(KeptCall kept) {
  const auto id = static_cast<UpstreamId>(kept.id);
  if (in_flight_.find(id) == nullptr) return;
  Call& call = calls_.try_emplace(id, budget_).first->second;
  call.state = std::move(kept.state);
  if (!call.state.empty()) states_.emplace(call.state, id);
  for (KeptCall::Question& one : kept.questions) {
    call.held.add(one.params.size());
    call.questions.push_back({std::move(one.raw_id),
                              {std::move(one.key), std::move(one.method), std::move(one.params)},
                              one.is_of_session});
  }
  call.rounds = static_cast<unsigned>(kept.rounds);
  call.due = steady_time_of(kept.due);
  for (std::string& bytes : kept.messages) {
    auto message = parse_frame(std::move(bytes));
    if (auto* frame = std::get_if<Frame>(&message)) keep_message(id, std::move(*frame));
  }
  if (!kept.end.empty()) {
    auto response = parse_frame(std::move(kept.end));
    if (auto* frame = std::get_if<Frame>(&response)) keep(id, std::move(*frame));
  }
  timer_.set_at_latest(call.due);
}

}  // namespace bridge
