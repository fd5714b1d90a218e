#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "jobs/job.hpp"
#include "mcp/input_required.hpp"

namespace bridge {

/// The state of a job that has become a task of the server; JobPosition identifies the task.
struct JobTask {
  enum class Asked { nothing, state, answers, result };

  Asked asked = Asked::nothing;        ///< the request under way
  std::vector<InputResponse> answers;  ///< not sent to the server yet
  std::set<std::string> answered;      ///< keys of all questions that came

  template <class A>
  void each_field(A& archive) {
    archive(archive.not_saved(asked), answers, answered);
  }
};
/// The state of an unfinished job that is not saved in its JobPosition.
struct RunningJob {
  enum class Stage : std::uint8_t {
    waiting,  ///< its request waits at the router
    working,  ///< its request is at the server
    asked,    ///< a question about it is open
    pausing,  ///< until `due`: before the next try or poll of its task
  };
  friend constexpr Stage last_of(Stage) { return Stage::pausing; }

  Stage stage = Stage::waiting;
  bool for_client = false;        ///< see JobRequest
  bool was_left = false;          ///< by an earlier daemon: retried while the upstream is away
  SteadyTime since{};             ///< start of the current stage, working or asking
  SteadyTime::duration worked{};  ///< before `since`
  std::unique_ptr<JobTask> task;  ///< its task at the server, if any
  std::uint64_t question = 0;     ///< Question::id of its open question
  bool notes_questions = true;    ///< JobKeeper::note_question() is called for the first of several
  std::chrono::milliseconds pause{1000};
  SteadyTime due{};

  template <class A>
  void each_field(A& archive) {
    archive(stage, for_client, was_left, since, worked, task, question,
            archive.not_saved(notes_questions), archive.not_saved(pause), archive.not_saved(due));
  }
};

}  // namespace bridge
