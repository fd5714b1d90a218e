// Skills: ours, for programs that load such, and those of a server (extension
// io.modelcontextprotocol/skills).
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "command_line/typed_program.hpp"
#include "json/text.hpp"
#include "json/value.hpp"
#include "render/agent_help.hpp"
#include "render/skills_list.hpp"
#include "servers/whole_file.hpp"
#include "terminal/visible.hpp"
#include "verbs/failure.hpp"
#include "verbs/server_list.hpp"
#include "verbs/verbs.hpp"

namespace client {
namespace {

constexpr ServerList skill_list = {"skills/list", "skills", "uri"};

/// Makes the folder and those above it that are not there. Returns errno.
int make_folders(const std::string& path) {
  for (std::size_t at = 1; at != path.npos; ++at) {
    at = path.find('/', at);
    if (::mkdir(path.substr(0, at).c_str(), 0777) != 0 && errno != EEXIST) return errno;
    if (at == path.npos) break;
  }
  return 0;
}

ExitCode install(const AgentSkill& skill, const Options& options, Console& console) {
  const std::string folder = options.save + "/" + skill.name;
  const std::string file = folder + "/SKILL.md";
  int error = make_folders(folder);
  if (error == 0) error = replace_file(file, skill.text);
  if (error != 0) {
    return tell_failure(
        console, options,
        {"file", fmt::format("cannot write {}: {}", make_visible_line(file), std::strerror(error)),
         ExitCode::answered_error});
  }
  console.print(options.json ? fmt::format("{{\"name\":{},\"file\":{}}}\n", json::quote(skill.name),
                                           json::quote(file))
                             : make_visible_line(file) + "\n");
  return ExitCode::ok;
}

}  // namespace

ExitCode print_skill(const Options& options, Console& console) {
  const AgentSkill skill = agent_skill(typed_program(options), options.server);
  if (!options.save.empty()) return install(skill, options, console);
  console.print(options.json ? fmt::format("{{\"name\":{},\"text\":{}}}\n", json::quote(skill.name),
                                           json::quote(skill.text))
                             : skill.text);
  return ExitCode::ok;
}

ExitCode list_skills(Dialogue& dialogue, const Options& options) {
  const auto fetched = fetch_list(dialogue, skill_list);
  if (const auto* failed = std::get_if<Answer>(&fetched)) return dialogue.report(*failed);
  const auto& pages = std::get<std::vector<std::string>>(fetched);
  const auto skills = elements_of(pages, skill_list);
  Console& console = dialogue.console();
  if (options.json) {
    console.print(raw_result(pages, skill_list));
  } else if (options.names) {
    for (const std::string_view skill : skills)
      console.print(make_visible_line(name_of(skill, skill_list)) + "\n");
  } else if (skills.empty()) {
    console.note("the server has no skills");
  } else {
    console.print(render_skills(skills, console.output_width()));
  }
  return ExitCode::ok;
}

}  // namespace client
