#pragma once

#include <vector>

#include "jobs/running_job.hpp"
#include "jobs/server_task.hpp"
#include "json/frame.hpp"

namespace bridge {

class JobRunner;

/// Jobs that are tasks of the server: what the server says of a task, and what it is asked next.
///
/// A part of JobRunner; the loop's thread only. Bounds: most_questions of a task.
class JobTasks {
 public:
  explicit JobTasks(JobRunner& jobs) : jobs_(jobs) {}

  /// Whether the response to the job's request says that it is now a task.
  bool begins_task(Job& job, RunningJob& running, const Frame& response);
  /// The server has answered a request about the task.
  void task_answered(Job& job, RunningJob& running, Frame&& response);
  void ask_about_task(const Job& job, RunningJob& running);
  void ask_task(const Job& job, RunningJob& running, JobTask::Asked what);

 private:
  void task_is(Job& job, RunningJob& running, ServerTask task);
  void task_asks(Job& job, RunningJob& running, const std::vector<InputRequest>& questions);

  JobRunner& jobs_;
};

}  // namespace bridge
