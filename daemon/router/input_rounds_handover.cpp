// Rounds of questions that another image of the program goes on with.
#include <utility>

#include "base/clock.hpp"
#include "router/input_rounds.hpp"

namespace bridge {

std::vector<KeptRound> InputRounds::to_keep() const {
  std::vector<KeptRound> all;
  for (const auto& [id, round] : rounds_) {
    if (round.failure || !in_flight_.survives_upgrade(id)) continue;
    KeptRound kept;
    kept.id = value_of(id);
    kept.waits = static_cast<std::uint64_t>(round.waits);
    for (const Question& one : round.questions)
      kept.questions.push_back({one.key, one.method, one.result});
    kept.request_state = round.request_state;
    kept.due = ticks_of(round.due);
    all.push_back(std::move(kept));
  }
  return all;
}

void InputRounds::go_on_with(KeptRound kept) {
  const auto id = static_cast<UpstreamId>(kept.id);
  if (in_flight_.find(id) == nullptr || kept.waits > static_cast<std::uint64_t>(Waits::for_session))
    return;
  const PendingRequest& request = *in_flight_.find(id);
  if (!request.rounds) return;
  Round& round = rounds_.emplace(id, budget_).first->second;
  round.held.set(request.rounds->original.size() + kept.request_state.size());
  round.waits = static_cast<Waits>(kept.waits);
  for (KeptRound::Question& one : kept.questions) {
    round.held.add(one.result.size());
    round.questions.push_back({std::move(one.key), std::move(one.method), std::move(one.result)});
  }
  round.request_state = std::move(kept.request_state);
  round.due = steady_time_of(kept.due);
  timer_.set_at_latest(round.due);
  settled_.schedule();
}

}  // namespace bridge
