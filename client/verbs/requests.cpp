#include <fmt/format.h>

#include "json/text.hpp"
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
                        dialogue.hint_of_refusal());
}

}  // namespace

ExitCode call_tool(Dialogue& dialogue, const Options& options, const std::string& params) {
  if (is_job(options)) return call_as_job(dialogue, options, params);
  if (options.task) return call_as_task(dialogue, options, params);
  if (!dialogue.console().error_is_terminal()) {
    return ask_and_present(dialogue, options, "tools/call", params, read_tool_result);
  }
  const std::string with_token =
      fmt::format(R"({},"_meta":{{"progressToken":{}}}}})", params.substr(0, params.size() - 1),
                  dialogue.next_id());
  return ask_and_present(dialogue, options, "tools/call", with_token, read_tool_result);
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
