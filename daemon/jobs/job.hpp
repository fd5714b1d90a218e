#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "router/user.hpp"

namespace bridge {

/// The place of a job in the order of submission; never reused. It is also the id of its request
/// towards the router.
enum class JobNumber : std::uint64_t {};
constexpr std::uint64_t value_of(JobNumber number) { return static_cast<std::uint64_t>(number); }

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

/// What the upstream asks about a job.
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

/// A request that belongs to nobody's connection (BEHAVIOUR, "Jobs"). What is said of it is
/// changed by the JobStore alone, which counts its bytes.
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
  WallTime created;
  std::chrono::milliseconds keep{};  ///< so long after its end

  bool collected = false;  ///< somebody was told how it ended
  std::size_t bytes = 0;   ///< what it is counted with

  template <class A>
  void each_field(A& archive) {
    archive(static_cast<JobOutcome&>(*this), id, number, user, method, tool, key, digest, pid,
            command, created, keep, collected, archive.not_saved(bytes));
  }
};

}  // namespace bridge
