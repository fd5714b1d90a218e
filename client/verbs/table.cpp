// The rows of all verbs. A new verb is a row here and its handler.

#include "command_line/verb.hpp"
#include "verbs/dialogue.hpp"
#include "verbs/listen.hpp"
#include "verbs/operands.hpp"
#include "verbs/verbs.hpp"

namespace client {

// The handlers and printers of the rows, each in the file of its concept. stdout closed by its
// reader is not a failure.
ExitCode list_tools(Dialogue&, const Options&);
ExitCode list_resources(Dialogue&, const Options&);
ExitCode list_templates(Dialogue&, const Options&);
ExitCode list_prompts(Dialogue&, const Options&);
ExitCode list_skills(Dialogue&, const Options&);
ExitCode grep(Dialogue&, const Options&);
ExitCode call(Dialogue&, const Options&, const Prepared&);
ExitCode send_request(Dialogue&, const Options&, const Prepared&);
ExitCode send_notification(Dialogue&, const Options&, const Prepared&);
ExitCode print_resource(Dialogue&, const Options&, const std::string& result);
ExitCode print_prompt(Dialogue&, const Options&, const std::string& result);
ExitCode print_completion(Dialogue&, const Options&, const std::string& result);
ExitCode print_level(Dialogue&, const Options&, const std::string& result);
ExitCode print_jobs(Dialogue&, const Options&, const std::string& result);
ExitCode print_job_state(Dialogue&, const Options&, const std::string& result);
ExitCode print_done(Dialogue&, const Options&, const std::string& result);
Params check_jobs(const Operands&);
Params check_job(const Operands&);  ///< JOB, and words behind it
Params job_params_of(const Operands&);
ExitCode wait_for_jobs(Dialogue&, const Options&);
ExitCode answer_job(Dialogue&, const Options&, const Prepared&);
ExitCode show_tasks(Dialogue&, const Options&);
ExitCode subscribe(Dialogue&, const Options&);
ExitCode unsubscribe(Dialogue&, const Options&);
ExitCode show_server(Dialogue&, const Options&);
ExitCode ping(Dialogue&, const Options&);
ExitCode show_status(Dialogue&, const Options&);
ExitCode print_caller(Dialogue&, const Options&, const std::string& result);
ExitCode log_in(Dialogue&, const Options&);
ExitCode print_logout(Dialogue&, const Options&, const std::string& result);
ExitCode replay(Dialogue&, const Options&);
ExitCode show_agent_help(Dialogue&, const Options&, const Prepared&);
ExitCode list_servers(const Options&, Console&);
ExitCode approve_server(const Options&, Console&);
ExitCode stop_server(const Options&, Console&);
ExitCode show_logs(const Options&, Console&);
ExitCode run_shell(const Options&, Console&);
ExitCode show_help(const Options&, Console&);
ExitCode show_version(const Options&, Console&);

namespace {

constexpr std::size_t any_number = 100000;
constexpr std::size_t most_jobs = 64;  // the daemon lets one connection wait for so many

constexpr HelpEntry call_words[] = {
    {"key=value", "as the tool's schema wants it; k=a k=b: a list, a.b=c: an object"},
    {"key:=json", "any JSON value, as count:=3 or list:='[1,2]'"},
    {"key:@FILE", "a text from a file (- is stdin); key:=@FILE: JSON from a file"},
    {"'{...}'", "an object of arguments; those given by key win"},
    {"-", "the same, from stdin"},
};

constexpr Verb rows[] = {
    {.form = "tools [NAME]",
     .operands = {0, 1},
     .options = "keep max-bytes names brief full types root as",
     .summary = "the server's tools with their parameters; one in full, with a call to copy",
     .more = "More than 20 tools are shown with a line each. Of one tool everything is shown: its "
             "parameters with their descriptions, its result, its annotations, and a call to copy.",
     .examples = "mcp-nc tools\nmcp-nc tools --brief\nmcp-nc tools search\n"
                 "mcp-nc tools --json | jq '.tools[].name'",
     .handler = list_tools,
     .traits = opens_session},
    {.form = "call NAME [ARGUMENT...]",
     .operands = {1, any_number},
     .options = "keep max-bytes field save raw detach detach-after key root task",
     .summary = "calls a tool and prints its content",
     .more = "The arguments are checked by the tool's input schema before anything is sent (exit "
             "status 2). A tool that reports a failure is exit status 1.",
     .examples = "mcp-nc call search query=\"lost sessions\" limit=3\n"
                 "mcp-nc call search query=x tags=a tags=b filter.year=1999\n"
                 "mcp-nc call put path=a.txt content:@notes.txt",
     .handler = call,
     .traits = opens_session | takes_notifications | takes_words,
     .words = call_words},
    {.form = "resources",
     .options = "keep max-bytes names root",
     .summary = "the server's resources and resource templates",
     .more = "The templates of resources are listed behind them.",
     .examples = "mcp-nc resources\nmcp-nc resources --names",
     .handler = list_resources,
     .traits = opens_session},
    {.form = "read URI",
     .operands = {1, 1},
     .options = "keep max-bytes field save root",
     .summary = "prints a resource",
     .more = "Text is printed as it is; of bytes only type and size, unless --save DIR is given.",
     .examples = "mcp-nc read demo://readme\nmcp-nc read demo://pixel --save pictures",
     .handler = RequestHandler{"resources/read", print_resource},
     .params = uri_params,
     .traits = opens_session | takes_notifications},
    {.form = "prompts",
     .options = "keep max-bytes names root",
     .summary = "the server's prompts with their arguments",
     .more = "Required arguments are marked with a star.",
     .examples = "mcp-nc prompts",
     .handler = list_prompts,
     .traits = opens_session},
    {.form = "prompt NAME [key=text...]",
     .operands = {1, any_number},
     .options = "keep max-bytes field save root",
     .summary = "prints a prompt",
     .more = "Each message is printed behind the name of its role.",
     .examples = "mcp-nc prompt greet name=Ada",
     .handler = RequestHandler{"prompts/get", print_prompt},
     .params = prompt_params,
     .traits = opens_session | takes_notifications},
    {.form = "request METHOD [PARAMS]",
     .operands = {1, 2},
     .options = "keep max-bytes field root",
     .summary = "any request; prints the result as it came (PARAMS: JSON, or -)",
     .more = "The result is printed as the server wrote it.",
     .examples = "mcp-nc request ping\nmcp-nc request tools/call '{\"name\":\"echo\"}'",
     .handler = send_request,
     .params = free_params,
     .traits = opens_session | takes_notifications},
    {.form = "notify METHOD [PARAMS]",
     .operands = {1, 2},
     .options = "keep",
     .summary = "any notification",
     .more = "A notification has no answer; so nothing is printed.",
     .examples = "mcp-nc notify notifications/roots/list_changed",
     .handler = send_notification,
     .params = free_params,
     .traits = takes_notifications},
    {.form = "listen",
     .options = "for count since seq",
     .summary = "notifications, one JSON line each",
     .more = "Prints what the server sends, first what came while no client listened. What is "
             "printed is taken from the daemon, except with --since and --seq.",
     .examples = "mcp-nc listen --for 10s\nmcp-nc listen --for 0\nmcp-nc listen --since 0 --seq",
     .handler = listen,
     .traits = takes_notifications},
    {.form = "status",
     .options = "keep ready metrics watch",
     .summary = "the daemon's state",
     .more = "It takes no notification. Exit status 0 whenever the daemon answers.",
     .examples = "mcp-nc status\nmcp-nc status --watch\nmcp-nc status --ready -w 2s",
     .handler = show_status},
    {.form = "whoami",
     .summary = "your uid, pid and client id, as the daemon sees them",
     .more = "The id is that of this one connection: mcp-nc status lists it, and monitor names it.",
     .examples = "mcp-nc whoami\nmcp-nc whoami --json | jq .uid",
     .handler = RequestHandler{"bridge/status", print_caller}},
    {.form = "jobs",
     .options = "max-bytes names",
     .summary = "the calls that were detached",
     .more = "Jobs that have ended are listed too, for as long as the daemon keeps them.",
     .examples = "mcp-nc jobs",
     .handler = RequestHandler{"bridge/jobs", print_jobs}},
    {.form = "wait JOB...",
     .operands = {1, most_jobs},
     .options = "max-bytes save any",
     .summary = "waits for jobs and prints their results as call does",
     .more =
         "The exit status is that of the call, of several the highest; 75 if a job asks a "
         "question and there is no terminal to ask at. An interrupt ends the wait, not the job.",
     .examples = "mcp-nc wait \"$id\"\nmcp-nc wait \"$first\" \"$second\" --any",
     .handler = wait_for_jobs,
     .params = check_jobs},
    {.form = "answer JOB [ARGUMENT...]",
     .operands = {1, any_number},
     .options = "decline cancel",
     .summary =
         "answers what a job asks; the arguments are those of call, without them it asks here",
     .more = "Each value is read by the type of its field.",
     .examples = "mcp-nc answer \"$id\" name=Ada\nmcp-nc answer \"$id\" --decline",
     .handler = answer_job,
     .params = check_job,
     .traits = takes_words},
    {.form = "cancel JOB",
     .operands = {1, 1},
     .summary = "cancels a job and prints its state",
     .more = "The state is not cancelled if the job had ended before.",
     .examples = "mcp-nc cancel \"$id\"",
     .handler = RequestHandler{"bridge/cancel", print_job_state},
     .params = job_params_of},
    {.form = "forget JOB",
     .operands = {1, 1},
     .summary = "removes a job that has ended",
     .more = "Its result is removed with it.",
     .examples = "mcp-nc forget \"$id\"",
     .handler = RequestHandler{"bridge/forget", print_done},
     .params = job_params_of},
    {.form = "tasks [get|result|cancel TASK]",
     .operands = {0, 2},
     .options = "max-bytes field names save",
     .summary = "the server's own tasks; the state or the result of one, or its end",
     .more =
         "Of a server of MCP 2025-11-25. result waits until the task has ended, and prints what "
         "call prints. Calls that are detached are jobs of the daemon: mcp-nc jobs.",
     .examples = "mcp-nc call --task report\nmcp-nc tasks\nmcp-nc tasks result \"$id\"",
     .handler = show_tasks,
     .params = check_task,
     .traits = opens_session},
    {.form = "skills",
     .options = "max-bytes names",
     .summary = "the skills that the server offers",
     .more =
         "Of a server with the extension io.modelcontextprotocol/skills. A skill is a resource: "
         "read URI prints it. Its text is the server's.",
     .examples = "mcp-nc skills\nmcp-nc read \"$uri\"",
     .handler = list_skills,
     .traits = opens_session},
    {.form = "grep WORD...",
     .operands = {1, any_number},
     .options = "max-bytes root all",
     .summary = "tools, resources and prompts whose name or description has all the words",
     .more = "Searches names, titles, descriptions and URIs; case does not count. With --all in "
             "every server that files name: daemons that are not running are started, unless with "
             "--no-start. Exit status 1 without a hit.",
     .examples = "mcp-nc grep file\nmcp-nc grep read file\nmcp-nc grep --all file",
     .handler = grep,
     .traits = opens_session},
    {.form = "templates",
     .options = "max-bytes names root",
     .summary = "the server's resource templates",
     .more = "A template is a URI with names in braces to be filled in.",
     .examples = "mcp-nc templates",
     .handler = list_templates,
     .traits = opens_session},
    {.form = "server",
     .options = "max-bytes",
     .summary = "what the server says of itself: name, version, capabilities, instructions",
     .more = "Opens the session if there is none.",
     .examples = "mcp-nc server\nmcp-nc server --json | jq .capabilities",
     .handler = show_server,
     .traits = opens_session},
    {.form = "ping",
     .summary = "asks the server for a sign of life, and says how long it took",
     .more = "A server of MCP 2026-07-28 has no ping: the daemon answers for it.",
     .examples = "mcp-nc ping -w 5s",
     .handler = ping},
    {.form = "subscribe URI...",
     .operands = {1, any_number},
     .summary = "has the server tell when resources change; listen shows it",
     .more = "Returns at once; the subscription stays with the daemon's session.",
     .examples = "mcp-nc subscribe demo://ticker\nmcp-nc listen",
     .handler = subscribe,
     .params = check_uris,
     .traits = opens_session},
    {.form = "unsubscribe URI...",
     .operands = {1, any_number},
     .summary = "ends that",
     .more = "Another client's subscription of the same URI stays.",
     .examples = "mcp-nc unsubscribe demo://ticker",
     .handler = unsubscribe,
     .params = check_uris,
     .traits = opens_session},
    {.form = "log-level LEVEL",
     .operands = {1, 1},
     .summary = "from which level on the server sends log messages: debug to emergency",
     .more = "The levels are debug, info, notice, warning, error, critical, alert, emergency. The "
             "level is the session's, for all clients.",
     .examples = "mcp-nc log-level warning",
     .handler = RequestHandler{"logging/setLevel", print_level},
     .params = level_params,
     .traits = opens_session},
    {.form = "complete KIND NAME ARG VALUE",
     .operands = {4, any_number},
     .options = "max-bytes root",
     .summary = "what the server proposes for an argument that begins so; KIND is prompt or "
                "resource",
     .more = "key=text gives the other arguments.",
     .examples = "mcp-nc complete prompt greet name A\n"
                 "mcp-nc complete resource 'demo://{id}' id 1",
     .handler = RequestHandler{"completion/complete", print_completion},
     .params = completion_params,
     .traits = opens_session},
    {.form = "login",
     .options = "cancel device open",
     .summary = "logs in at the server, in a browser",
     .more = "Prints the address to open in a browser on stdout, and waits until the login is "
             "over. The address at which the browser ends may be pasted. An interrupt ends the "
             "wait, not the login. Exit status 1 if it is refused, 124 if it is not completed in "
             "time.",
     .examples = "mcp-nc login\nmcp-nc login --device",
     .handler = log_in},
    {.form = "logout",
     .summary = "revokes and forgets the login",
     .more = "Exit status 1 if the server could not be told; it is forgotten all the same.",
     .examples = "mcp-nc logout",
     .handler = RequestHandler{"bridge/logout", print_logout}},
    {.form = "monitor",
     .options = "for count",
     .summary = "every message through the daemon, both directions, as it passes",
     .more = "For the daemon's own user and root. Each message is shown where it comes from a "
             "client, where it goes to the server, and on its way back. Known secrets are blotted "
             "out. The daemon never waits for a slow monitor: missed messages are counted.",
     .examples = "mcp-nc monitor\nmcp-nc monitor --json --for 10s",
     .handler = monitor},
    {.form = "record FILE",
     .operands = {1, 1},
     .options = "for count",
     .summary = "keeps every message through the daemon in a file, until ^C",
     .more = "The lines of monitor --json. Known secrets are blotted out; all else is in it, so "
             "only its owner may read it.",
     .examples = "mcp-nc @github record calls.jsonl",
     .handler = record},
    {.form = "replay FILE",
     .operands = {1, 1},
     .summary = "sends the requests of such a file again; reports changed responses",
     .more = "Requests that act at the server act again. What was blotted out is sent so, and "
             "requests about the session itself are not sent. Exit status 1 if a response differs.",
     .examples = "mcp-nc @github replay calls.jsonl\nmcp-nc @github replay calls.jsonl --json",
     .handler = replay,
     .traits = opens_session | takes_notifications},
    {.form = "agent-help",
     .options = "max-bytes save skill",
     .summary = "what a language model has to know to use this session, in a page",
     .more = "Under 1,500 tokens: the server, the commands, output, exit status, long calls and "
             "questions. The server's own words are cut and marked as such.",
     .examples = "mcp-nc agent-help >>AGENTS.md\nmcp-nc agent-help --skill --save ~/.claude/skills",
     .handler = show_agent_help,
     .traits = opens_session | reports_no_session},
    {.form = "servers",
     .options = "names",
     .summary = "the servers that files name, and which of their daemons run",
     .more = "A daemon that was started for a server ends after 30 minutes without a client.",
     .examples = "mcp-nc servers\nmcp-nc servers --names",
     .handler = list_servers},
    {.form = "approve @NAME",
     .operands = {0, 1},
     .options = "yes",
     .summary = "shows what a folder's .mcp.json would run, and allows it",
     .more = "A .mcp.json comes from the author of the folder: what it names runs only after this, "
             "and again only after this when it is changed.",
     .examples = "mcp-nc approve @github\nmcp-nc approve --yes @github",
     .handler = approve_server,
     .traits = about_server},
    {.form = "stop @NAME",
     .operands = {0, 1},
     .summary = "ends the daemons of a server",
     .more = "Also those that were started with another definition, or with other values.",
     .examples = "mcp-nc stop @github",
     .handler = stop_server,
     .traits = about_server},
    {.form = "logs @NAME",
     .operands = {0, 1},
     .options = "follow",
     .summary = "the log of its daemon",
     .more = "A new log is begun when a daemon is started and there is more than a mebibyte.",
     .examples = "mcp-nc logs @github\nmcp-nc logs -f @github",
     .handler = show_logs,
     .traits = about_server},
    {.form = "shell",
     .summary = "commands typed line by line, for the same server",
     .more = "Each line is a command with its arguments, without mcp-nc before it; exit or the end "
             "of the input ends it. Options before shell are those of each line. If the lines are "
             "not typed, the exit status is that of the last.",
     .examples = "mcp-nc @github shell\nmcp-nc @github shell <commands.txt",
     .handler = run_shell},
    {.form = "help [COMMAND]",
     .operands = {0, 1},
     .summary = "this text; one command in full",
     .more = "The man page, mcp-nc(1), has all of it.",
     .examples = "mcp-nc help call",
     .handler = show_help},
    {.form = "version",
     .summary = "the version",
     .examples = "mcp-nc version",
     .handler = show_version},
};

}  // namespace

std::span<const Verb> verbs() { return rows; }

}  // namespace client
