#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "policy/peer.hpp"
#include "router/client_channel.hpp"

namespace bridge {

/// Those of MCP tasks (MCP 2025-11-25, "Tasks: Task Status").
enum class JobState : std::uint8_t { working, input_required, completed, failed, cancelled };
constexpr std::size_t job_states = 5;
constexpr JobState last_of(JobState) { return JobState::cancelled; }

constexpr std::array<std::string_view, job_states> job_state_names = {
    "working", "input_required", "completed", "failed", "cancelled"};

constexpr std::string_view name_of(JobState state) {
  return job_state_names[static_cast<std::size_t>(state)];
}
constexpr bool is_end(JobState state) {
  return state != JobState::working && state != JobState::input_required;
}
inline std::optional<JobState> job_state_named(std::string_view name) {
  for (std::size_t at = 0; at < job_states; ++at) {
    if (job_state_names[at] == name) return static_cast<JobState>(at);
  }
  return std::nullopt;
}

/// What the upstream asks about a job, as it is shown and kept.
struct JobQuestion {
  std::string method;
  std::string params;  ///< JSON; empty: none

  template <class A>
  void each_field(A& archive) {
    archive(method, params);
  }
};

/// What has come of a job.
struct JobOutcome {
  JobState state = JobState::working;
  bool holds_key = false;               ///< a second submit with its key finds the job
  std::optional<JobQuestion> question;  ///< only while the state is input_required
  std::string progress;                 ///< params of the last notifications/progress, as JSON
  std::string response;                 ///< the whole response, with `id` null
  SteadyTime ended{};

  template <class A>
  void each_field(A& archive) {
    archive(state, holds_key, question, progress, response, ended);
  }
};

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

/// How the request of a job that has not ended stands at the upstream.
struct JobPosition {
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

/// A durable request that belongs to a user (BEHAVIOUR, "Jobs"). The JobRunner changes its state at
/// the upstream; everything else changes only in the JobStore, which counts its bytes. A value: all
/// that another process needs to resume it.
struct Job : JobOutcome {
  // As it was submitted.
  std::string id;  ///< cannot be guessed
  JobNumber number{};
  User user;
  std::string method;
  std::string tool;          ///< the name in a tools/call; cut if it is long, empty if unknown
  std::string key;           ///< empty: none
  std::uint64_t digest = 0;  ///< of method and params, if there is a key
  pid_t pid = 0;             ///< of who submitted it; 0: not known
  std::string command;       ///< likewise
  std::string remote;        ///< likewise, of the HTTP frontend: its address
  WallTime created;
  std::chrono::milliseconds keep{};  ///< so long after its end

  bool collected = false;  ///< somebody was told how it ended
  std::size_t bytes = 0;   ///< what it is counted with

  // Until it has ended.
  std::string request;  ///< as the router takes it; empty: it is not to be sent, or not again
  JobPosition position;
  std::optional<Peer> peer{};  ///< its submitter; none: not known

  template <class A>
  void each_field(A& archive) {
    archive(static_cast<JobOutcome&>(*this), id, number, user, method, tool, key, digest, pid,
            command, remote, created, keep, collected, archive.not_saved(bytes), request, position,
            peer);
  }
};

}  // namespace bridge
