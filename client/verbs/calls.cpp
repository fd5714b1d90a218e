// The verbs that request one item of the server's content.
// The server's own tasks (MCP 2025-11-25, "Tasks"). A detached call is a job of the daemon instead,
// which hides the server's task if there is one.
#include <fmt/format.h>

#include <utility>

#include "render/content.hpp"
#include "render/table.hpp"
#include "schema/signature.hpp"
#include "text/visible_text.hpp"
#include "verbs/operands.hpp"
#include "verbs/server_lists.hpp"
#include "verbs/verbs.hpp"

namespace client {
namespace {

/// A call that is ready to be sent.
struct ToolCall {
  json::JsonObject params{256};  // of tools/call
  KnownTool tool{};              // empty: not looked up
};

using Made = std::variant<std::string, WrongArguments>;

ExitCode refuse_arguments(Console& console, const Options& options, const WrongArguments& wrong,
                          const std::optional<Schema>& schema) {
  const std::string& name = options.operands.front();
  constexpr std::size_t most_reported = 10;
  const auto shown =
      std::span(wrong.problems).first(std::min(wrong.problems.size(), most_reported));
  std::string text = fmt::format("wrong arguments for {}: {}", name, fmt::join(shown, "; "));
  if (shown.size() < wrong.problems.size())
    text += fmt::format("; and {} more", wrong.problems.size() - shown.size());
  const std::string call =
      schema ? typed_program(options) + " call " + signature(tool_operand(name), *schema)
             : std::string();
  const ExitCode code = tell_failure(
      console, options, {.kind = "usage", .message = text, .code = ExitCode::usage, .hint = call});
  if (schema) console.note(fmt::format("usage: {} (--raw sends as written)", call));
  return code;
}

/// The call that the operands describe: the arguments converted by the tool's input schema, or as
/// written (--raw, or if there is no schema). Errors in them are reported on stderr, with the
/// tool's signature, and nothing is sent.
std::variant<ToolCall, ExitCode> prepare_call(Dialogue& dialogue, const Options& options,
                                              const std::vector<Argument>& arguments) {
  ToolCall call;
  const std::string& name = options.operands.front();
  Console& console = dialogue.console();
  std::optional<json::Value> input;
  if (!is_job(options)) dialogue.introduce();
  if (!options.raw) {
    auto found = find_tool(dialogue, name);
    if (const auto* failed = std::get_if<Answer>(&found)) return dialogue.report(*failed);
    if (const auto* unknown = std::get_if<Unknown>(&found))
      return report_unknown(*unknown, options, console);
    if (auto* tool = std::get_if<KnownTool>(&found)) {
      static constexpr std::string_view path[] = {"tool", "inputSchema"};
      input = json::parse_at(tool->json, path);
      call.tool = std::move(*tool);
    }
  }
  std::optional<Schema> schema;
  if (input && input->is(json::Value::Kind::object)) schema.emplace(*input);
  const Made made =
      schema ? arguments_by_schema(arguments, *schema) : arguments_as_written(arguments);
  if (const auto* wrong = std::get_if<WrongArguments>(&made))
    return refuse_arguments(console, options, *wrong, schema);
  call.params.add("name", name).add("arguments", json::RawJson{std::get<std::string>(made)});
  return call;
}

constexpr std::string_view hint_of_task =
    "the tool runs only as a task: mcp-nc call --detach makes a job of it, call --task a task of "
    "the server";

/// MCP 2025-11-25, "Tool-Level Negotiation": a plain call of such a tool is refused, in each
/// server's own words.
bool runs_only_as_task(const KnownTool& known) {
  if (known.json.find("taskSupport") == known.json.npos) return false;  // of most tools
  const auto tool = known.raw();
  const auto execution = tool ? json::find_member(*tool, "execution") : std::nullopt;
  return execution && json::string_member(*execution, "taskSupport") == "required";
}

ExitCode present_answer(Dialogue& dialogue, const Options& options, const Answer& answer,
                        ReadParts read_parts) {
  if (!answer.ok()) return dialogue.report(answer);
  return present_result(answer.payload, read_parts, options, dialogue.console(), "",
                        dialogue.hint());
}

/// Asks the server to run the call as a task, and prints its id.
ExitCode call_as_task(Dialogue& dialogue, const Options& options, json::JsonObject params) {
  const Answer answer = dialogue.ask("tools/call", params.add("task", json::JsonObject()).text());
  if (!answer.ok()) return dialogue.report(answer);
  const auto task = json::find_member(answer.payload, "task");
  const std::string id = task ? json::string_member(*task, "taskId") : std::string();
  // A server without support for tasks may respond as to a plain call.
  if (id.empty()) {
    dialogue.console().note("the server made no task of it: this is the result");
    return present_answer(dialogue, options, answer, read_tool_result);
  }
  dialogue.console().print_line(options.json ? answer.payload : bridge::make_visible_line(id));
  return ExitCode::ok;
}

}  // namespace

ExitCode call(Dialogue& dialogue, const Options& options, const Prepared& prepared) {
  auto made = prepare_call(dialogue, options, prepared.arguments);
  if (const auto* code = std::get_if<ExitCode>(&made)) return *code;
  ToolCall& call = std::get<ToolCall>(made);
  if (is_job(options)) return call_as_job(dialogue, options, call.params.text());
  if (options.task) return call_as_task(dialogue, options, call.params);
  if (dialogue.console().error_is_terminal()) call.params.add("_meta", dialogue.progress_token());
  const Answer answer = dialogue.ask("tools/call", std::move(call.params).text());
  const bool wants_task =
      runs_only_as_task(call.tool) &&
      (answer.ok() ? is_tool_error(answer.payload) : answer.outcome == Answer::Outcome::error);
  if (wants_task) dialogue.advise(hint_of_task);
  const ExitCode code = present_answer(dialogue, options, answer, read_tool_result);
  if (wants_task) dialogue.console().note(as_typed(std::string(hint_of_task), options));
  return code;
}

ExitCode print_resource(Dialogue& dialogue, const Options& options, const std::string& result) {
  return present_answer(dialogue, options, {Answer::Outcome::result, result}, read_resource);
}

ExitCode send_request(Dialogue& dialogue, const Options& options, const Prepared& prepared) {
  const Answer answer = dialogue.ask(options.operands[0], prepared.params);
  if (!answer.ok()) return dialogue.report(answer);
  if (!options.field.empty()) return print_field(answer.payload, options, dialogue.console());
  dialogue.console().print_line(answer.payload);
  return ExitCode::ok;
}

ExitCode send_notification(Dialogue& dialogue, const Options& options, const Prepared& prepared) {
  dialogue.tell(options.operands[0], prepared.params);
  // The daemon closes after reading the line; an error without id would come first.
  if (const auto refusal = dialogue.leave())
    return dialogue.report({Answer::Outcome::refused, *refusal});
  return print_done(dialogue, options, "");
}

ExitCode show_tasks(Dialogue& dialogue, const Options& options) {
  if (options.operands.empty()) return list_tasks(dialogue, options);
  const std::string& what = options.operands[0];
  const Answer answer =
      dialogue.ask("tasks/" + what, json::JsonObject().add("taskId", options.operands[1]).text());
  if (what == "result" || !answer.ok())
    return present_answer(dialogue, options, answer, read_any_result);
  // Anything but a task is shown as it came.
  const json::Value task = json::parse_or_null(answer.payload);
  const bool is_shown = options.json || task.string("status").empty();
  dialogue.console().print(is_shown ? answer.payload + "\n" : render_task(task));
  return ExitCode::ok;
}

}  // namespace client
