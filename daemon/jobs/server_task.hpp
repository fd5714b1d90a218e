#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/job.hpp"
#include "json/frame.hpp"
#include "mcp/input_required.hpp"

namespace bridge {

// Tasks of a server. A modern server decides that a request becomes a task (MCP 2026-07-28,
// extension io.modelcontextprotocol/tasks, SEP-2663); a legacy server is asked to make it one (MCP
// 2025-11-25, "Tasks"). The task is polled until it has ended. Pure.

/// A task as the server describes it.
struct ServerTask {
  enum class Form {
    modern,  ///< `tasks/get` returns everything
    legacy,  ///< `tasks/result` returns the response, and its stream has the questions
  };
  friend constexpr Form last_of(Form) { return Form::legacy; }
  enum class Status { working, input_required, completed, failed, cancelled };

  std::string id;  ///< raw JSON
  Status status = Status::working;
  std::chrono::milliseconds poll_after{1000};  ///< within the bridge's own bounds
  std::string result;                          ///< JSON; of a completed task
  std::string error;                           ///< JSON; of a failed task
  std::vector<InputRequest> questions;
};

constexpr std::chrono::milliseconds shortest_poll{100};
constexpr std::chrono::milliseconds longest_poll{60000};
constexpr std::size_t longest_task_id = 1024;

/// The form of the task that the request has become by this response; nullopt: none.
std::optional<ServerTask::Form> form_of_task(const Frame& response);
/// The task in such a response, as JSON.
std::string_view task_in(const Frame& response, ServerTask::Form form);

/// Parses that, or the result of `tasks/get`; nullopt if it is not a task.
std::optional<ServerTask> read_task(std::string_view result);

/// `tasks/get`, `tasks/update`, `tasks/result` or `tasks/cancel` for a job's task; `answers` to its
/// questions.
Frame task_request(JobNumber number, std::string_view method, std::string_view raw_task_id,
                   const std::vector<InputResponse>& answers = {});

}  // namespace bridge
