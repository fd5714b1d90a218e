#include <fmt/format.h>

#include "json/scan.hpp"
#include "render/content.hpp"
#include "verbs/present.hpp"
#include "verbs/results.hpp"
#include "verbs/verbs.hpp"

namespace client {
namespace {

ExitCode ask_and_present(Dialogue& dialogue, const Options& options, std::string_view method,
                         const std::string& params, ReadParts read_parts) {
  const Answer answer = dialogue.ask(method, params);
  if (answer.outcome != Answer::Outcome::result) return dialogue.report(answer);
  return present_result(answer.payload, read_parts, options, dialogue.console(), "",
                        dialogue.hint());
}

constexpr std::string_view hint_of_task =
    "the tool runs only as a task: mcp-nc call --detach makes a job of it, call --task a task of "
    "the server";

/// MCP 2025-11-25, "Tool-Level Negotiation": a plain call of such a tool is refused, in the words
/// of each server.
bool runs_only_as_task(const KnownTool& known) {
  if (known.json.find("taskSupport") == known.json.npos) return false;  // of nearly all
  const auto tool = known.raw();
  const auto execution = tool ? json::member(*tool, "execution") : std::nullopt;
  return execution && json::string_member(*execution, "taskSupport") == "required";
}

bool has_failed(const Answer& answer) {
  if (answer.outcome == Answer::Outcome::result) return is_tool_error(answer.payload);
  return answer.outcome == Answer::Outcome::error;
}

}  // namespace

ExitCode call_tool(Dialogue& dialogue, const Options& options, const ToolCall& call) {
  if (is_job(options)) return call_as_job(dialogue, options, call.params);
  if (options.task) return call_as_task(dialogue, options, call.params);
  std::string params = call.params;
  if (dialogue.console().error_is_terminal()) {
    params.pop_back();
    params += fmt::format(R"(,"_meta":{{"progressToken":{}}}}})", dialogue.next_id());
  }
  const Answer answer = dialogue.ask("tools/call", params);
  const bool wants_task = runs_only_as_task(call.tool) && has_failed(answer);
  if (wants_task) dialogue.advise(hint_of_task);
  const ExitCode code = answer.outcome == Answer::Outcome::result
                            ? present_result(answer.payload, read_tool_result, options,
                                             dialogue.console(), "", dialogue.hint())
                            : dialogue.report(answer);
  if (wants_task) dialogue.console().note(hint_of_task);
  return code;
}

ExitCode read_resource_verb(Dialogue& dialogue, const Options& options, const std::string& params) {
  return ask_and_present(dialogue, options, "resources/read", params, read_resource);
}

ExitCode get_prompt(Dialogue& dialogue, const Options& options, const std::string& params) {
  return ask_and_present(dialogue, options, "prompts/get", params, read_prompt);
}

ExitCode send_request(Dialogue& dialogue, const Options& options, const std::string& params) {
  const Answer answer = dialogue.ask(options.operands[0], params);
  if (answer.outcome != Answer::Outcome::result) return dialogue.report(answer);
  if (!options.field.empty()) return print_field(answer.payload, options, dialogue.console());
  dialogue.console().print(answer.payload + "\n");
  return ExitCode::ok;
}

ExitCode send_notification(Dialogue& dialogue, const Options& options, const std::string& params) {
  dialogue.tell(options.operands[0], params);
  // The daemon closes when it has taken the line; an error without id would come before.
  if (const auto refusal = dialogue.leave()) {
    return dialogue.report({Answer::Outcome::refused, *refusal});
  }
  if (options.json) dialogue.console().print("{}\n");
  return ExitCode::ok;
}

}  // namespace client
