#include "command_line/manual.hpp"

#include <algorithm>

namespace client {
namespace {

constexpr ManualEntry all_commands[] = {
    {"tools [NAME]", "the server's tools with their parameters; one in full, with a call to copy"},
    {"call NAME [ARGUMENT...]", "calls a tool and prints its content; an argument is"},
    {"resources", "the server's resources and resource templates"},
    {"read URI", "prints a resource"},
    {"prompts", "the server's prompts with their arguments"},
    {"prompt NAME [key=text...]", "prints a prompt"},
    {"request METHOD [PARAMS]", "any request; prints the result as it came (PARAMS: JSON, or -)"},
    {"notify METHOD [PARAMS]", "any notification"},
    {"listen", "notifications, one JSON line each"},
    {"status", "the daemon's state"},
    {"jobs", "the calls that were detached"},
    {"wait JOB...", "waits for jobs and prints their results as call does"},
    {"answer JOB [ARGUMENT...]",
     "answers what a job asks; the arguments are those of call, without them it asks here"},
    {"cancel JOB", "cancels a job and prints its state"},
    {"forget JOB", "removes a job that has ended"},
    {"tasks [get|result|cancel TASK]",
     "the server's own tasks; the state or the result of one, or its end"},
    {"skills", "the skills that the server offers"},
    {"grep WORD...", "tools, resources and prompts whose name or description has all the words"},
    {"templates", "the server's resource templates"},
    {"server", "what the server says of itself: name, version, capabilities, instructions"},
    {"ping", "asks the server for a sign of life, and says how long it took"},
    {"subscribe URI...", "has the server tell when resources change; listen shows it"},
    {"unsubscribe URI...", "ends that"},
    {"log-level LEVEL", "from which level on the server sends log messages: debug to emergency"},
    {"complete KIND NAME ARG VALUE",
     "what the server proposes for an argument that begins so; KIND is prompt or resource"},
    {"login", "logs in at the server, in a browser"},
    {"logout", "revokes and forgets the login"},
    {"monitor", "every message through the daemon, both directions, as it passes"},
    {"record FILE", "keeps every message through the daemon in a file, until ^C"},
    {"replay FILE", "sends the requests of such a file again; tells whose answers are others"},
    {"agent-help", "what a language model has to know to use this session, in a page"},
    {"servers", "the servers that files name, and which of their daemons run"},
    {"approve @NAME", "shows what a folder's .mcp.json would run, and lets it"},
    {"stop @NAME", "ends the daemons of a server"},
    {"logs @NAME", "what its daemon has said"},
    {"shell", "commands typed line by line, for the same server"},
    {"help [COMMAND]", "this text; one command in full"},
    {"version", "the version"},
};

constexpr ManualEntry call_arguments[] = {
    {"key=value", "as the tool's schema wants it; k=a k=b: a list, a.b=c: an object"},
    {"key:=json", "any JSON value, as count:=3 or list:='[1,2]'"},
    {"key:@FILE", "a text from a file (- is stdin); key:=@FILE: JSON from a file"},
    {"'{...}'", "an object of arguments; those given by key win"},
    {"-", "the same, from stdin"},
};

constexpr ManualEntry general_options[] = {
    {"-s, --socket PATH",
     "the daemon's socket; @NAME is an abstract one. Default: MCP_SOCKET_PATH, else the first there "
     "is of /tmp/mcp.sock, /run/mcp-bridged/mcp.sock"},
    {"--config FILE", "where @NAME is looked up first"},
    {"--url URL", "instead of @NAME: a server at that address"},
    {"--run COMMAND", "instead of @NAME: a server that this command line starts"},
    {"--no-start", "with these: only a daemon that runs already"},
    {"--peer UID",
     "who else may serve a socket in a folder that others may write: the daemon's uid, or any. "
     "Without it only root, you and the folder's owner. Default: MCP_NC_PEER"},
    {"-w, --timeout TIME",
     "give up after that long (exit 124); for the relay: when nothing came for that long after "
     "stdin's end. 0 = never (default)"},
    {"--wait TIME", "wait so long for a socket that is not there yet"},
    {"-h, --help", "this text; after a command, what that takes"},
    {"-V, --version", "the version"},
};

constexpr ManualEntry command_options[] = {
    {"--keep",
     "leave waiting notifications in the daemon; without it they are taken and printed on stderr. "
     "Always so for status and the lists"},
    {"--json",
     "print one JSON value: the raw result, or {\"error\":{kind, code, delivered, message, "
     "hint}}"},
    {"--field PATH",
     "call, read, prompt, request, tasks result: only what stands there, as items.0.name: in the "
     "structured content, else in the result"},
    {"--max-bytes N", "of a longer output only so much; all of it goes to a file that is named"},
    {"--names",
     "tools, prompts, resources, templates, jobs, tasks, skills, servers: only the names (URIs, ids), one a line, those of "
     "tools as the daemon keeps them; tools NAME: its arguments as they are typed"},
    {"--brief", "tools: a line each; so from 21 tools on"},
    {"--full", "tools: with their parameters, however many they are"},
    {"--types", "tools: as declarations of TypeScript, for a client that is compiled"},
    {"--save DIR",
     "call, read, prompt, wait, tasks result: write images, audio and blobs to files there"},
    {"--raw",
     "call: send the arguments as they are written, text as strings: no schema is asked for"},
    {"--detach", "call: only print the id of a job that makes the call, and leave"},
    {"--detach-after TIME",
     "call: when there is no result after that long, print the job's id instead and exit 75"},
    {"--key KEY",
     "call: the same key with the same call is the same job: a step that is run twice acts once"},
    {"--root DIR",
     "tools, call, resources, read, prompts, prompt, request, templates, grep, complete: the server "
     "may work in this folder; several by repetition"},
    {"--task", "call: have the server make a task of its own of it, and print that one's id"},
    {"--all", "grep: in every server that files name; --no-start: only where a daemon runs"},
    {"--any", "wait: until the first of them has ended or asks something"},
    {"--decline", "answer: refuse to answer"},
    {"--cancel", "answer: dismiss the question; login: end the one that is pending"},
    {"--device", "login: by a code that is typed on another device"},
    {"--open", "login: open the address in this machine's browser, too"},
    {"--for TIME", "listen, monitor, record: so long; listen --for 0 = only what is there now"},
    {"--count N", "listen, monitor, record: until N were printed"},
    {"--since SEQ",
     "listen: first those after that sequence number that the daemon still has; only looks: what it "
     "shows stays in the daemon for the next client"},
    {"--seq", "listen: print {\"seq\":N,\"message\":{...}}; only looks, as --since does"},
    {"--skill",
     "agent-help: a skill (SKILL.md) for programs that load such; with --save DIR it is put there, in "
     "a folder of its own"},
    {"--yes", "approve: without asking"},
    {"-f, --follow", "logs: go on, until ^C"},
    {"--ready", "status: exit 4 while the upstream server cannot be reached"},
    {"--metrics", "status: the metrics as text"},
    {"--watch", "status: the whole screen, up to date; ^C ends it"},
};

constexpr ManualEntry exit_codes[] = {
    {"0", "ok"},
    {"1", "the tool or the server answered with an error"},
    {"2", "usage"},
    {"3", "the daemon cannot be reached, hung up, or is somebody whom --peer does not trust"},
    {"4", "the daemon cannot reach or use the upstream server"},
    {"75", "the call goes on, or its job waits for an answer"},
    {"124", "time is up"},
    {"130, 143", "interrupted (the request is cancelled; a job that is waited for is not)"},
};

}  // namespace

std::span<const ManualEntry> manual_commands() { return all_commands; }
std::span<const ManualEntry> manual_arguments() { return call_arguments; }
std::span<const ManualEntry> manual_general_options() { return general_options; }
std::span<const ManualEntry> manual_command_options() { return command_options; }
std::span<const ManualEntry> manual_exit_codes() { return exit_codes; }

const ManualEntry* manual_command(std::string_view verb) {
  const auto* const found = std::find_if(
      std::begin(all_commands), std::end(all_commands),
      [verb](const auto& entry) { return entry.form.substr(0, entry.form.find(' ')) == verb; });
  return found == std::end(all_commands) ? nullptr : found;
}

std::string_view summary_of(const ManualEntry& command) {
  return command.text.substr(0, command.text.find("; an argument is"));
}

std::vector<ManualEntry> options_of_verb(Verb verb) {
  std::vector<ManualEntry> own;
  for (const ManualEntry& option : command_options) {
    const std::size_t dashes = option.form.find("--");
    const std::size_t end = option.form.find(' ', dashes);
    if (goes_with(option.form.substr(dashes, end - dashes), verb)) own.push_back(option);
  }
  return own;
}

}  // namespace client
