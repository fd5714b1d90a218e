#include "verbs/job_waits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "verbs/describe_error.hpp"

namespace client {
namespace {

/// How much longer than it was asked to wait the daemon may take to say that nothing came. A result
/// that comes at the last moment must not be given to nobody.
constexpr Milliseconds grace{5000};

}  // namespace

JobWaits::JobWaits(Dialogue& dialogue, Manner manner) : dialogue_(dialogue), manner_(manner) {
  if (manner.time) {
    end_ = Deadline::after(*manner.time);
    patience_ = Deadline::after(*manner.time + grace);
  }
  dialogue.look_soon();
}

void JobWaits::add(const std::string& job) {
  const auto is_it = [&job](const Pending& one) { return one.job == job; };
  if (std::any_of(pending_.begin(), pending_.end(), is_it)) return;
  pending_.push_back({job, Step::collecting, ""});
  collect(pending_.back());
}

void JobWaits::collect(Pending& pending) {
  const Milliseconds left = manner_.only_now ? Milliseconds(0) : end_.left();
  std::string more = collect_wait(left);
  if (!manner_.keep) more += R"(,"keep":false)";
  // One bar can be drawn.
  if (!manner_.several && dialogue_.console().error_is_terminal()) {
    more += fmt::format(R"(,"_meta":{{"progressToken":{}}})", dialogue_.next_id());
  }
  pending.step = Step::collecting;
  pending.id = dialogue_.send("bridge/collect", job_params(pending.job, more));
}

bool JobWaits::is_asking() const {
  return std::any_of(pending_.begin(), pending_.end(),
                     [](const Pending& one) { return one.step == Step::asking; });
}

Deadline JobWaits::until() const {
  return Deadline::earlier(dialogue_.deadline(), is_asking() ? end_ : patience_);
}

JobEvent JobWaits::next() {
  for (;;) {
    std::vector<std::string> ids;
    for (const Pending& one : pending_) ids.push_back(one.id);
    const Answer answer = dialogue_.await(ids, until());
    const auto found = std::find(ids.begin(), ids.end(), answer.id);
    if (answer.outcome == Answer::Outcome::hung_up && manner_.reconnects) {
      const Answer::Outcome outcome = dialogue_.reconnect();
      if (outcome != Answer::Outcome::result)
        return {JobEvent::Kind::stopped, "", {}, {outcome, ""}};
      for (Pending& one : pending_) {
        if (one.step != Step::asking) collect(one);
      }
      continue;
    }
    if (found == ids.end()) {
      if (is_asking()) dialogue_.console().prompt("\n");  // the cursor stands behind a question
      const bool is_time_up =
          answer.outcome == Answer::Outcome::timed_out && !dialogue_.deadline().passed();
      return {is_time_up ? JobEvent::Kind::time_up : JobEvent::Kind::stopped, "", {}, answer};
    }
    if (auto event = take(static_cast<std::size_t>(found - ids.begin()), answer)) return *event;
  }
}

std::optional<JobEvent> JobWaits::take(std::size_t at, const Answer& answer) {
  Pending& pending = pending_[at];
  switch (pending.step) {
    case Step::collecting: return take_collected(at, answer);
    case Step::asking:
      if (answer.outcome != Answer::Outcome::result) return end(at, {JobEvent::Kind::asks});
      pending.step = Step::answering;
      pending.id = dialogue_.send("bridge/answer", answer_params(pending.job, pending.question_id,
                                                                 ",\"result\":" + answer.payload));
      return std::nullopt;
    case Step::answering:
      // Somebody else was quicker, or the server has stopped asking: what is it now?
      if (answer.outcome == Answer::Outcome::error) {
        dialogue_.console().note("the answer was not taken: " +
                                 describe_daemon_error(answer.payload));
      }
      collect(pending);
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<JobEvent> JobWaits::take_collected(std::size_t at, const Answer& answer) {
  using Kind = JobEvent::Kind;
  Pending& pending = pending_[at];
  if (answer.outcome != Answer::Outcome::result) return end(at, {Kind::failed, "", {}, answer});
  auto collected = read_collected(answer.payload);
  if (!collected) return end(at, {Kind::failed, "", {}, answer});
  switch (collected->phase) {
    case CollectedJob::Phase::working:
      if (manner_.only_now || end_.passed()) return JobEvent{Kind::time_up, pending.job, {}, {}};
      collect(pending);
      return std::nullopt;
    case CollectedJob::Phase::asks: break;
    case CollectedJob::Phase::ended: return end(at, {Kind::ended, "", std::move(*collected), {}});
  }
  if (collected->question_method == "elicitation/create" && dialogue_.can_ask()) {
    if (manner_.several) dialogue_.console().note(fmt::format("job {} asks", pending.job));
    std::string id = "question of " + pending.job;
    if (dialogue_.ask_here(id, collected->question_params)) {
      pending.step = Step::asking;
      pending.id = std::move(id);
      pending.question_id = std::move(collected->question_id);
      return std::nullopt;
    }
  }
  return end(at, {Kind::asks, "", std::move(*collected), {}});
}

JobEvent JobWaits::end(std::size_t at, JobEvent event) {
  event.job = std::move(pending_[at].job);
  pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(at));
  return event;
}

}  // namespace client
