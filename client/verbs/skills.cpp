// Skills: ours, for programs that load such, and those of a server (extension
// io.modelcontextprotocol/skills).
#include <fmt/format.h>

#include <cstring>

#include "json/document.hpp"
#include "render/failure.hpp"
#include "render/lists.hpp"
#include "render/server_page.hpp"
#include "system/files.hpp"
#include "text/visible_text.hpp"
#include "verbs/operands.hpp"
#include "verbs/server_lists.hpp"
#include "verbs/verbs.hpp"

namespace client {
namespace {

ExitCode install(const AgentSkill& skill, const Options& options, Console& console) {
  const std::string folder = options.save + "/" + skill.name;
  const std::string file = folder + "/SKILL.md";
  int error = make_folders(folder, 0777);
  if (error == 0) error = replace_file(file, skill.text);
  if (error != 0) {
    return tell_failure(
        console, options,
        {"file",
         fmt::format("cannot write {}: {}", bridge::make_visible_line(file), std::strerror(error)),
         ExitCode::answered_error});
  }
  console.print(options.json ? fmt::format("{{\"name\":{},\"file\":{}}}\n", json::quote(skill.name),
                                           json::quote(file))
                             : bridge::make_visible_line(file) + "\n");
  return ExitCode::ok;
}

}  // namespace

ExitCode show_agent_help(Dialogue& dialogue, const Options& options, const Prepared& prepared) {
  AgentHelp about;
  about.program = typed_program(options);
  const Answer described =
      prepared.described ? *prepared.described : dialogue.ask("server/discover", "");
  if (described.outcome == Answer::Outcome::error) {
    about.trouble = read_error(described.payload).shown;
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

ExitCode print_skill(const Options& options, Console& console) {
  const AgentSkill skill = agent_skill(typed_program(options), options.server);
  if (!options.save.empty()) return install(skill, options, console);
  console.print(options.json ? fmt::format("{{\"name\":{},\"text\":{}}}\n", json::quote(skill.name),
                                           json::quote(skill.text))
                             : skill.text);
  return ExitCode::ok;
}

}  // namespace client
