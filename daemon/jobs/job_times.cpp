#include "jobs/job_times.hpp"

#include <algorithm>
#include <chrono>

namespace bridge {

void JobTimes::begin_time(Job& job, RunningJob& running) {
  running.since = loop_.now();
  note_time(job, running);
}

void JobTimes::stop_time(Job& job, RunningJob& running) {
  if (running.stage != RunningJob::Stage::asked) running.worked += loop_.now() - running.since;
  running.stage = RunningJob::Stage::asked;
  running.since = loop_.now();
  note_time(job, running);
}

void JobTimes::note_time(Job& job, const RunningJob& running) {
  job.position.time = {std::chrono::duration_cast<std::chrono::milliseconds>(running.worked),
                       on_calendar(running.since), running.stage == RunningJob::Stage::asked};
  // The beginning is written once the request is sent.
  if (job.position.started) store_.changed(job, JobChange::position);
}

WallTime JobTimes::on_calendar(SteadyTime time) const {
  return loop_.wall_time() + std::chrono::duration_cast<WallTime::duration>(time - loop_.now());
}

void JobTimes::take_over_time(RunningJob& running, const JobPosition& position) const {
  constexpr WallTime::duration longest = std::chrono::hours(24 * 366 * 100);
  running.worked = position.time.worked;
  running.since = loop_.now();
  if (position.time.since == WallTime()) return;
  const auto ago =
      std::clamp(loop_.wall_time() - position.time.since, WallTime::duration::zero(), longest);
  // A question on a stream is asked again; one in a result has been waiting since then.
  if (!position.time.asks || !position.round.empty()) running.since -= ago;
}

SteadyTime JobTimes::due(const RunningJob& running) const {
  if (running.stage == RunningJob::Stage::asked) return running.since + options_.limits.ttl;
  // A request that is not started waits for a slot or a session: those that have the slots end in
  // time.
  const bool is_working = running.stage != RunningJob::Stage::waiting || running.was_left;
  if (!is_working || options_.request_max.count() == 0) return SteadyTime::max();
  return running.since + options_.request_max - running.worked;
}

}  // namespace bridge
