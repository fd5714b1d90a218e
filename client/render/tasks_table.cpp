#include "render/tasks_table.hpp"

#include "command_line/duration.hpp"
#include "render/jobs_table.hpp"
#include "render/table.hpp"
#include "terminal/visible.hpp"

namespace client {
namespace {

std::string kept_for(const json::Value& task) {
  if (task.find("ttl", json::Value::Kind::number) == nullptr) return "-";
  return format_duration(Milliseconds(static_cast<Milliseconds::rep>(task.count("ttl"))));
}

}  // namespace

std::vector<StyledLine> render_tasks(const std::vector<json::Value>& tasks, const Look& look) {
  std::vector<std::vector<TableCell>> rows;
  rows.reserve(tasks.size());
  for (const json::Value& task : tasks) {
    rows.push_back({{plain_cell(task.find("taskId"))},
                    {plain_cell(task.find("status")), tone_of_state(task.string("status"))},
                    {plain_cell(task.find("createdAt")), Tone::faint},
                    {kept_for(task), Tone::faint},
                    {plain_cell(task.find("statusMessage"))}});
  }
  return render_table({{"TASK"}, {"STATE"}, {"CREATED"}, {"KEPT", true}, {"THE SERVER SAYS"}},
                      std::move(rows), look);
}

std::string render_task(const json::Value& task) {
  std::string text = make_visible_line(task.string("status"));
  if (const std::string_view says = task.string("statusMessage"); !says.empty())
    text += ": " + make_visible_line(says);
  return text + "\n";
}

}  // namespace client
