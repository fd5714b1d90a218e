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

// Tasks of a server. A modern one decides that a request becomes one (MCP 2026-07-28, extension
// io.modelcontextprotocol/tasks, SEP-2663), a legacy one is asked to make it one (MCP 2025-11-25,
// "Tasks"). It is asked about it until it has ended. Pure.

/// What a server says of a task.
struct ServerTask {
  enum class Form {
    modern,  ///< `tasks/get` says all of it
    legacy,  ///< `tasks/result` has the response, and on its stream come the questions
  };
  friend constexpr Form last_of(Form) { return Form::legacy; }
  enum class Status { working, input_required, completed, failed, cancelled };

  std::string id;  ///< raw JSON
  Status status = Status::working;
  std::chrono::milliseconds poll_after{1000};  ///< within bounds of our own
  std::string result;                          ///< JSON; of one that is completed
  std::string error;                           ///< JSON; of one that has failed
  std::vector<InputRequest> questions;
};

constexpr std::chrono::milliseconds shortest_poll{100};
constexpr std::chrono::milliseconds longest_poll{60000};
constexpr std::size_t longest_task_id = 1024;

/// Whether the response is that the request has become a task, and of which form; nothing: not.
std::optional<ServerTask::Form> form_of_task(const Frame& response);
/// What such a response says of the task, as JSON.
std::string_view task_in(const Frame& response, ServerTask::Form form);

/// Reads that, or the result of `tasks/get`; nothing if it is none.
std::optional<ServerTask> read_task(std::string_view result);

/// `tasks/get`, `tasks/update`, `tasks/result` or `tasks/cancel` of a job's task; `answers` are
/// those to its questions.
Frame task_request(JobNumber number, std::string_view method, std::string_view raw_task_id,
                   const std::vector<InputResponse>& answers = {});

}  // namespace bridge
