#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "jobs/job.hpp"

namespace bridge {

/// For how long a job has worked, on the calendar: that goes on while no daemon runs.
struct JobTime {
  std::chrono::milliseconds worked{};  ///< before `since`
  WallTime since{};                    ///< working, or asking; 0: it was never started
  bool asks = false;                   ///< it waits for an answer since then

  template <class A>
  void each_field(A& archive) {
    archive(worked, since, asks);
  }
};

/// How the request of a job that has not ended stands at the upstream: with the request all that
/// somebody else needs to go on with it. A value.
struct JobWay {
  /// It may have reached the upstream.
  bool started = false;
  UpstreamId id{};            ///< under which it was sent last; 0: not known
  std::uint32_t session = 0;  ///< the number of the session in which event_id is an event
  /// The last event of its answer's stream that has been dealt with; empty: none, or there is no
  /// such stream.
  std::string event_id;
  std::uint64_t task_form = 0;  ///< of ServerTask::Form; with `task`
  std::string task;             ///< raw JSON: the task's id; empty: it has become none
  /// JSON: the `input_required` result with which it was answered, while that is so; else empty.
  std::string round;
  std::vector<std::string> answers;  ///< JSON: those to the first questions of that result
  JobTime time{};

  template <class A>
  void each_field(A& archive) {
    archive(started, id, session, event_id, task_form, task, round, answers, time);
  }
};

/// A job as another process left it; of one that has ended only the job counts.
struct UnfinishedJob {
  Job job;              ///< whatever its state was
  std::string request;  ///< as it was handed to the router; empty: it is not to be sent again
  JobWay way;

  template <class A>
  void each_field(A& archive) {
    archive(job, request, way);
  }
};

}  // namespace bridge
