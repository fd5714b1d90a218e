#include "verbs/tool_arguments.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "command_line/typed_program.hpp"
#include "json/scan.hpp"
#include "json/text.hpp"
#include "json/value.hpp"
#include "schema/signature.hpp"
#include "verbs/failure.hpp"
#include "verbs/known_tool.hpp"
#include "verbs/verbs.hpp"

namespace client {
namespace {

using Made = std::variant<std::string, WrongArguments>;

ExitCode refuse_arguments(Console& console, const Options& options, const WrongArguments& wrong,
                          const std::optional<Schema>& schema) {
  const std::string& name = options.operands.front();
  constexpr std::size_t most_told = 10;
  std::string text = fmt::format("wrong arguments for {}: ", name);
  for (std::size_t index = 0; index < wrong.problems.size(); ++index) {
    if (index == most_told) {
      text += fmt::format("; and {} more", wrong.problems.size() - index);
      break;
    }
    text += (index == 0 ? "" : "; ") + wrong.problems[index];
  }
  const std::string call =
      schema ? typed_program(options) + " call " + signature(tool_operand(name), *schema)
             : std::string();
  const ExitCode code = tell_failure(
      console, options, {.kind = "usage", .message = text, .code = ExitCode::usage, .hint = call});
  if (schema) console.note(fmt::format("usage: {} (--raw sends as written)", call));
  return code;
}

}  // namespace

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
    if (const auto* unknown = std::get_if<UnknownTool>(&found)) {
      return report_unknown(*unknown, options, console);
    }
    if (auto* tool = std::get_if<KnownTool>(&found)) {
      input = tool->input_schema();
      call.tool = std::move(*tool);
    }
  }
  std::optional<Schema> schema;
  if (input && input->is(json::Value::Kind::object)) schema.emplace(*input);
  const Made made =
      schema ? arguments_by_schema(arguments, *schema) : arguments_as_written(arguments);
  if (const auto* wrong = std::get_if<WrongArguments>(&made))
    return refuse_arguments(console, options, *wrong, schema);
  call.params = R"({"name":)" + json::quote(name) + R"(,"arguments":)";
  call.params.append(std::get<std::string>(made)).push_back('}');
  return call;
}

}  // namespace client
