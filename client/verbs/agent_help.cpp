#include "render/agent_help.hpp"
#include "command_line/typed_program.hpp"
#include "json/text.hpp"
#include "verbs/describe_error.hpp"
#include "verbs/server_list.hpp"
#include "verbs/verbs.hpp"

namespace client {

ExitCode show_agent_help(Dialogue& dialogue, const Options& options,
                         const std::optional<Answer>& known) {
  AgentHelp about;
  about.program = typed_program(options);
  about.has_jobs = find_verb("wait").has_value();
  const Answer described = known ? *known : dialogue.ask("server/discover", "");
  if (described.outcome == Answer::Outcome::error) {
    about.trouble = describe_error(described.payload);
  } else if (described.outcome != Answer::Outcome::result) {
    return dialogue.report(described);
  } else {
    const Answer status = dialogue.ask("bridge/status", "");
    about.server = read_server(described.payload,
                               status.outcome == Answer::Outcome::result ? status.payload : "{}");
    const auto fetched = fetch_list(dialogue, tool_list);
    if (const auto* pages = std::get_if<std::vector<std::string>>(&fetched)) {
      for (const std::string_view tool : elements_of(*pages, tool_list))
        about.tools.push_back(name_of(tool, tool_list));
    }
  }
  const std::string text = agent_help(about);
  dialogue.console().print(options.json ? "{\"text\":" + json::quote(text) + "}\n" : text);
  return ExitCode::ok;
}

}  // namespace client
