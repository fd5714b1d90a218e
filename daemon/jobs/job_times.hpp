#pragma once

#include "event/event_loop.hpp"
#include "jobs/job_store.hpp"
#include "jobs/running_job.hpp"

namespace bridge {

/// How long unfinished jobs have worked, and by when they must have ended: after --request-max of
/// work, or when a question stays unanswered for --job-ttl. Saved in their JobPosition.
///
/// A part of JobRunner; the loop's thread only.
class JobTimes {
 public:
  JobTimes(const EventLoop& loop, JobStore& store, const JobOptions& options)
      : loop_(loop), store_(store), options_(options) {}

  /// The job works from now on.
  void begin_time(Job& job, RunningJob& running);
  /// The job waits for an answer from now on.
  void stop_time(Job& job, RunningJob& running);
  void note_time(Job& job, const RunningJob& running);
  WallTime on_calendar(SteadyTime time) const;
  /// For a job of an earlier daemon. The calendar may have been changed meanwhile.
  void take_over_time(RunningJob& running, const JobPosition& position) const;
  SteadyTime due(const RunningJob& running) const;

 private:
  const EventLoop& loop_;
  JobStore& store_;
  const JobOptions& options_;
};

}  // namespace bridge
