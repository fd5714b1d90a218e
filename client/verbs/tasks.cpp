// The server's own tasks (MCP 2025-11-25, "Tasks"). What is detached is a job of the daemon
// instead, which hides the server's task if it made one.
#include <fmt/format.h>

#include "json/text.hpp"
#include "json/value.hpp"
#include "render/save.hpp"
#include "render/table.hpp"
#include "terminal/styled.hpp"
#include "terminal/visible.hpp"
#include "verbs/present.hpp"
#include "verbs/server_lists.hpp"
#include "verbs/verbs.hpp"

namespace client {
namespace {

std::string params_of(const std::string& task) {
  return fmt::format(R"({{"taskId":{}}})", json::quote(task));
}

/// What is no task is shown as it came.
ExitCode print_state(const std::string& task, const Options& options, Console& console) {
  const auto value = json::parse(task);
  const bool is_task = value && !value->string("status").empty();
  console.print(options.json || !is_task ? task + "\n" : render_task(*value));
  return ExitCode::ok;
}

}  // namespace

ExitCode show_tasks(Dialogue& dialogue, const Options& options) {
  if (options.operands.empty()) return list_tasks(dialogue, options);
  const std::string& what = options.operands[0];
  const Answer answer = dialogue.ask("tasks/" + what, params_of(options.operands[1]));
  if (answer.outcome != Answer::Outcome::result) return dialogue.report(answer);
  if (what == "result")
    return present_result(answer.payload, read_any_result, options, dialogue.console(), "",
                          dialogue.hint());
  return print_state(answer.payload, options, dialogue.console());
}

ExitCode call_as_task(Dialogue& dialogue, const Options& options, const std::string& params) {
  const std::string as_task =
      fmt::format(R"({},"task":{{}}}})", params.substr(0, params.size() - 1));
  const Answer answer = dialogue.ask("tools/call", as_task);
  if (answer.outcome != Answer::Outcome::result) return dialogue.report(answer);
  const auto task = json::member(answer.payload, "task");
  const std::string id = task ? json::string_member(*task, "taskId") : std::string();
  // A server that makes no tasks may answer as if nothing had been said of one.
  if (id.empty()) {
    dialogue.console().note("the server made no task of it: this is the result");
    return present_result(answer.payload, read_tool_result, options, dialogue.console());
  }
  dialogue.console().print(options.json ? answer.payload + "\n" : make_visible_line(id) + "\n");
  return ExitCode::ok;
}

}  // namespace client
