#include "jobs/server_task.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "json/json_object.hpp"
#include "json/json_text.hpp"
#include "router/call.hpp"

namespace bridge {
namespace {

std::optional<ServerTask::Status> status_named(std::string_view name) {
  using Status = ServerTask::Status;
  constexpr std::array<std::pair<std::string_view, Status>, 5> names = {
      {{"working", Status::working},
       {"input_required", Status::input_required},
       {"completed", Status::completed},
       {"failed", Status::failed},
       {"cancelled", Status::cancelled}}};
  const auto* const found = std::find_if(names.begin(), names.end(),
                                         [name](const auto& one) { return one.first == name; });
  return found == names.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

std::optional<ServerTask::Form> form_of_task(const Frame& response) {
  const std::string_view result = response.text(response.result);
  if (!is_object(result)) return std::nullopt;
  if (same_id(response.text(response.result_type), "\"task\"")) return ServerTask::Form::modern;
  // The result of a call always has content.
  const bool is_legacy = is_object(find_member(result, "task").value_or("")) &&
                         !find_member(result, "content") && !response.result_type.present();
  return is_legacy ? std::optional(ServerTask::Form::legacy) : std::nullopt;
}

std::string_view task_in(const Frame& response, ServerTask::Form form) {
  const std::string_view result = response.text(response.result);
  return form == ServerTask::Form::modern ? result : find_member(result, "task").value_or("");
}

std::optional<ServerTask> read_task(std::string_view result) {
  ServerTask task;
  const auto id = find_member(result, "taskId");
  const auto status = status_named(find_string(result, "status").value_or(""));
  if (!id || !is_string(*id) || id->size() > longest_task_id || !status) return std::nullopt;
  task.id = *id;
  task.status = *status;
  auto interval = find_member(result, "pollIntervalMs");
  if (!interval) interval = find_member(result, "pollInterval");  // of 2025-11-25
  if (interval) {
    const auto most = static_cast<std::uint64_t>(longest_poll.count());
    const auto number = to_unsigned(*interval);
    if (number) task.poll_after = std::chrono::milliseconds(std::min(*number, most));
  }
  task.poll_after = std::max(task.poll_after, shortest_poll);
  task.result = find_member(result, "result").value_or("");
  task.error = find_member(result, "error").value_or("");
  if (task.status != ServerTask::Status::input_required) return task;
  auto required = read_input_required(result);
  if (auto* read = std::get_if<InputRequired>(&required))
    task.questions = std::move(read->requests);
  return task;
}

Frame task_request(JobNumber number, std::string_view method, std::string_view raw_task_id,
                   const std::vector<InputResponse>& answers) {
  const std::string id = JobRequest{.number = number, .about_task = true}.id();
  JsonObject params;
  params.add("taskId", RawJson{raw_task_id});
  if (!answers.empty()) {
    JsonObject responses;
    for (const InputResponse& answer : answers)
      responses.add(RawJson{answer.key}, RawJson{answer.result});
    params.add("inputResponses", responses);
  }
  return std::get<Frame>(parse_frame(json_rpc_message()
                                         .add("id", RawJson{id})
                                         .add("method", method)
                                         .add("params", params)
                                         .text()));
}

}  // namespace bridge
