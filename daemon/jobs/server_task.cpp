#include "jobs/server_task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "json/json_text.hpp"

namespace bridge {
namespace {

constexpr std::string_view id_prefix = "\"task-";

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

std::string task_request_id(JobNumber number) {
  return fmt::format(R"({}{}")", id_prefix, value_of(number));
}

std::optional<JobNumber> job_of_task_request(std::string_view request_id) {
  if (!request_id.starts_with(id_prefix)) return std::nullopt;
  request_id.remove_prefix(id_prefix.size());
  request_id.remove_suffix(1);
  return static_cast<JobNumber>(to_unsigned(request_id).value_or(0));
}

Frame task_request(JobNumber number, std::string_view method, std::string_view raw_task_id,
                   std::string_view more) {
  auto request = parse_frame(
      fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{{"taskId":{}{}}}}})",
                  task_request_id(number), method, raw_task_id, more));
  return std::move(std::get<Frame>(request));
}

std::string task_answers(const std::vector<InputResponse>& answers) {
  std::string members;
  for (const InputResponse& answer : answers) {
    if (!members.empty()) members += ',';
    members += answer.key + ":" + answer.result;
  }
  return ",\"inputResponses\":{" + members + "}";
}

}  // namespace bridge
