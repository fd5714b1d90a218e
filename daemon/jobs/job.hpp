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
#include "grant/grant.hpp"
#include "policy/peer.hpp"
#include "router/client_channel.hpp"

namespace bridge {

/// The states of MCP tasks (MCP 2025-11-25, "Tasks: Task Status").
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

/// A question of the upstream about a job, as it is shown and saved.
struct JobQuestion {
  std::string method;
  std::string params;  ///< JSON; empty: none

  template <class A>
  void each_field(A& archive) {
    archive(method, params);
  }
};

/// The result of a job so far.
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

/// How long a job has worked, by the calendar, which continues while no daemon runs.
struct JobTime {
  std::chrono::milliseconds worked{};  ///< before `since`
  WallTime since{};   ///< start of the current stage, working or asking; 0: never started
  bool asks = false;  ///< waiting for an answer since then

  template <class A>
  void each_field(A& archive) {
    archive(worked, since, asks);
  }
};

/// Where the request of an unfinished job is at the upstream.
struct JobPosition {
  /// The request may have reached the upstream.
  bool started = false;
  UpstreamId id{};            ///< the last id it was sent with; 0: unknown
  std::uint32_t session = 0;  ///< the session that event_id belongs to
  /// The last processed event of the answer's stream; empty: none, or no such stream.
  std::string event_id;
  std::uint64_t task_form = 0;  ///< a ServerTask::Form, if there is a `task`
  std::string task;             ///< raw JSON: the task's id; empty: not a task
  /// JSON: the `input_required` result whose answers are awaited; else empty.
  std::string round;
  std::vector<std::string> answers;  ///< JSON: the answers to the first questions of that result
  JobTime time{};

  template <class A>
  void each_field(A& archive) {
    archive(started, id, session, event_id, task_form, task, round, answers, time);
  }
};

/// A durable request that belongs to a user (BEHAVIOUR, "Jobs"). The JobRunner changes its state at
/// the upstream; everything else changes only in the JobStore, which counts its bytes. A value: all
/// that another process needs to resume the job.
struct Job : JobOutcome {
  // Set on submission.
  /// Cannot be guessed. Empty in the log only: the request of a connected client (JobLog).
  std::string id;
  JobNumber number{};
  User user;
  std::string method;
  std::string tool;          ///< the name in a tools/call, shortened; empty if unknown
  std::string key;           ///< empty: none; with a grant behind its id and a slash
  std::uint64_t digest = 0;  ///< of method and params, if there is a key
  pid_t pid = 0;             ///< of the submitter; 0: unknown
  std::string command;       ///< of the submitter
  std::string remote;        ///< address of a submitter over HTTP
  WallTime created;
  std::chrono::milliseconds keep{};  ///< kept this long after its end
  std::optional<GrantHold> grant;    ///< with which it was submitted

  bool collected = false;  ///< a client has received its end
  std::size_t bytes = 0;   ///< its charge in the JobStore

  // Until the job has ended.
  std::string request;  ///< in the form for the router; empty: it is not sent (again)
  JobPosition position;
  Peer peer{};  ///< the submitter

  template <class A>
  void each_field(A& archive) {
    archive(static_cast<JobOutcome&>(*this), id, number, user, method, tool, key, digest, pid,
            command, remote, created, keep, grant, collected, archive.not_saved(bytes), request,
            position, peer);
  }
};

}  // namespace bridge
