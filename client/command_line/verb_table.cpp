#include "command_line/verb_table.hpp"

#include <algorithm>
#include <iterator>

namespace client {
namespace {

constexpr std::size_t any_number = 100000;
/// The daemon lets one connection wait for so many.
constexpr std::size_t most_jobs = 64;

constexpr VerbEntry verbs[] = {
    {"tools", Verb::tools, 0, 1, "[NAME]"},
    {"call", Verb::call, 1, any_number, "NAME [key=value] [key:=json] [key:@FILE] ['{...}'] [-]"},
    {"resources", Verb::resources, 0, 0, ""},
    {"read", Verb::read, 1, 1, "URI"},
    {"prompts", Verb::prompts, 0, 0, ""},
    {"prompt", Verb::prompt, 1, any_number, "NAME [key=text]"},
    {"request", Verb::request, 1, 2, "METHOD [PARAMS]"},
    {"notify", Verb::notify, 1, 2, "METHOD [PARAMS]"},
    {"listen", Verb::listen, 0, 0, ""},
    {"status", Verb::status, 0, 0, ""},
    {"jobs", Verb::jobs, 0, 0, ""},
    {"wait", Verb::wait, 1, most_jobs, "JOB..."},
    {"answer", Verb::answer, 1, any_number, "JOB [key=text] [key:=json] ['{...}'] [-]"},
    {"cancel", Verb::cancel, 1, 1, "JOB"},
    {"forget", Verb::forget, 1, 1, "JOB"},
    {"tasks", Verb::tasks, 0, 2, "[get|result|cancel TASK]"},
    {"skills", Verb::skills, 0, 0, ""},
    {"grep", Verb::grep, 1, any_number, "WORD..."},
    {"templates", Verb::templates, 0, 0, ""},
    {"server", Verb::server, 0, 0, ""},
    {"ping", Verb::ping, 0, 0, ""},
    {"subscribe", Verb::subscribe, 1, any_number, "URI..."},
    {"unsubscribe", Verb::unsubscribe, 1, any_number, "URI..."},
    {"log-level", Verb::log_level, 1, 1, "LEVEL"},
    {"complete", Verb::complete, 4, any_number, "prompt|resource NAME ARGUMENT VALUE [key=text]"},
    {"monitor", Verb::monitor, 0, 0, ""},
    {"record", Verb::record, 1, 1, "FILE"},
    {"replay", Verb::replay, 1, 1, "FILE"},
    {"agent-help", Verb::agent_help, 0, 0, ""},
    {"login", Verb::login, 0, 0, ""},
    {"logout", Verb::logout, 0, 0, ""},
    {"servers", Verb::servers, 0, 0, ""},
    {"approve", Verb::approve, 0, 1, "@NAME [--yes]"},
    {"stop", Verb::stop, 0, 1, "@NAME"},
    {"logs", Verb::logs, 0, 1, "@NAME [-f]"},
    {"shell", Verb::shell, 0, 0, ""},
    {"help", Verb::help, 0, 1, "[COMMAND]"},
    {"version", Verb::version, 0, 0, ""},
};

}  // namespace

const VerbEntry* find_verb_entry(std::string_view name) {
  const auto* found = std::find_if(std::begin(verbs), std::end(verbs),
                                   [name](const VerbEntry& entry) { return entry.name == name; });
  return found == std::end(verbs) ? nullptr : found;
}

std::vector<std::string_view> verb_names() {
  std::vector<std::string_view> names;
  for (const VerbEntry& entry : verbs) names.push_back(entry.name);
  return names;
}

std::optional<Verb> find_verb(std::string_view name) {
  const VerbEntry* const entry = find_verb_entry(name);
  return entry == nullptr ? std::nullopt : std::optional(entry->verb);
}

}  // namespace client
