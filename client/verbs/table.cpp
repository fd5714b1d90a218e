// The rows of all verbs. A new verb is a row here and its handler.

#include "verbs/listen.hpp"
#include "verbs/operands.hpp"
#include "verbs/verbs.hpp"

namespace client {

// The handlers and printers of the rows, each in the file of its subject. stdout closed by its
// reader is not a failure.
LocalVerb list_servers, approve_server, stop_server, show_logs, run_shell, show_help, show_version;
DialogueVerb list_tools, list_resources, list_others, grep, wait_for_jobs, show_tasks,
    change_subscriptions, link_tools, show_server, ping, show_status, log_in, replay, issue_grant,
    list_grants;
PreparedVerb call, get_prompt, send_request, send_notification, answer_job, show_agent_help;
PrintResult print_resource, print_completion, print_level, print_caller, print_logout, print_jobs,
    print_job_state;
MakeParams check_jobs, check_job, job_params_of, grant_params;

namespace {

constexpr HelpEntry call_words[] = {
    {"key=value", "a value per the tool's schema; k=a k=b: a list, a.b=c: an object"},
    {"key:=json", "any JSON value, as count:=3 or list:='[1,2]'"},
    {"key:@FILE", "a text from a file (- is stdin); key:=@FILE: JSON from a file"},
    {"'{...}'", "an object of arguments; key=value overrides its members"},
    {"-", "the same, from stdin"},
};

constexpr Verb rows[] = {
    {.form = "tools [NAME]",
     .options = "keep max-bytes names brief full types root as",
     .help = "the server's tools with their parameters; one in full, with a call to copy\n"
             "More than 20 tools are shown with a line each. NAME shows one tool in full: its "
             "parameters with descriptions, its result, its annotations, and a call to copy.\n\n"
             "mcp-nc tools\nmcp-nc tools --brief\nmcp-nc tools search\n"
             "mcp-nc tools --json | jq '.tools[].name'",
     .handler = list_tools,
     .traits = opens_session},
    {.form = "call NAME [ARGUMENT...]",
     .options = "keep max-bytes field save output raw detach detach-after key root task",
     .help =
         "calls a tool and prints its content\n"
         "The arguments are checked against the tool's input schema before anything is sent (exit "
         "status 2). A tool that reports failure gives exit status 1.\n\n"
         "mcp-nc call search query=\"lost sessions\" limit=3\n"
         "mcp-nc call search query=x tags=a tags=b filter.year=1999\n"
         "mcp-nc call put path=a.txt content:@notes.txt",
     .handler = call,
     .traits = opens_session | takes_notifications | takes_words,
     .words = call_words},
    {.form = "resources",
     .options = "keep max-bytes names root",
     .help = "the server's resources and resource templates\n"
             "Resource templates are listed after them.\n\n"
             "mcp-nc resources\nmcp-nc resources --names",
     .handler = list_resources,
     .traits = opens_session},
    {.form = "read URI",
     .options = "keep max-bytes field save output root",
     .help =
         "prints a resource\n"
         "Text and bytes go to a file or pipe unchanged; at a terminal bytes are named only.\n\n"
         "mcp-nc read demo://readme\nmcp-nc read demo://pixel -o pixel.png\n"
         "mcp-nc read demo://pixel --save pictures",
     .handler = RequestHandler{"resources/read", print_resource},
     .params = uri_params,
     .traits = opens_session | takes_notifications},
    {.form = "prompts [NAME]",
     .options = "keep max-bytes names root",
     .help = "the server's prompts with their arguments; one of them\n"
             "Required arguments are marked with a star.\n\n"
             "mcp-nc prompts\nmcp-nc prompts greet --names",
     .handler = list_others,
     .traits = opens_session},
    {.form = "prompt NAME [key=text...]",
     .options = "keep max-bytes field save root",
     .help = "prints a prompt\n"
             "Each message is printed after the name of its role.\n\n"
             "mcp-nc prompt greet name=Ada",
     .handler = get_prompt,
     .params = prompt_params,
     .traits = opens_session | takes_notifications},
    {.form = "request METHOD [PARAMS]",
     .options = "keep max-bytes field root",
     .help = "any request; prints the result as it came (PARAMS: JSON, or -)\n"
             "The result is printed as the server wrote it.\n\n"
             "mcp-nc request ping\nmcp-nc request tools/call '{\"name\":\"echo\"}'",
     .handler = send_request,
     .params = free_params,
     .traits = opens_session | takes_notifications},
    {.form = "notify METHOD [PARAMS]",
     .options = "keep",
     .help = "any notification\n"
             "A notification has no response, so nothing is printed.\n\n"
             "mcp-nc notify notifications/roots/list_changed",
     .handler = send_notification,
     .params = free_params,
     .traits = takes_notifications},
    {.form = "listen [URI...]",
     .options = "for count since seq exec method retries dead",
     .help =
         "notifications, a JSON line each; at a terminal a sentence each\n"
         "With URIs it subscribes to these resources for that time. Prints what the server sends, "
         "beginning with what arrived while no client listened. Printed notifications are taken "
         "from the daemon, except with --since and --seq. --exec runs a command for each instead, "
         "one at a time, in order, at least once, with MCP_METHOD, MCP_SEQ and MCP_URI set; a "
         "failed one is repeated after 1 s, later after up to 60 s. Subscriptions then stay. It "
         "waits for a daemon that restarts, and ends after the running command.\n\n"
         "mcp-nc listen --for 10s\nmcp-nc listen demo://ticker\nmcp-nc listen --since 0 --seq\n"
         "mcp-nc listen --exec 'mcp-nc call --key \"$MCP_SEQ\" review uri=\"$MCP_URI\"'",
     .handler = listen,
     .traits = takes_notifications},
    {.form = "status",
     .options = "keep ready metrics watch",
     .help = "the daemon's state\n"
             "Leaves notifications waiting. Without --ready, exit 0 if the daemon answers.\n\n"
             "mcp-nc status\nmcp-nc status --watch\nmcp-nc status --ready -w 2s",
     .handler = show_status},
    {.form = "whoami",
     .help = "your uid, pid and client id, as the daemon sees them; your rule in its policy\n"
             "The id belongs to this connection: mcp-nc status lists it, and monitor names it.\n\n"
             "mcp-nc whoami\nmcp-nc whoami --json | jq .uid",
     .handler = RequestHandler{"bridge/status", print_caller}},
    {.form = "jobs",
     .options = "max-bytes names",
     .help = "lists detached calls\n"
             "Jobs that have ended are listed too, for as long as the daemon keeps them. At a "
             "terminal ids are shortened; commands accept any beginning that is unique.\n\n"
             "mcp-nc jobs",
     .handler = RequestHandler{"bridge/jobs", print_jobs}},
    {.form = "wait JOB...",
     .options = "max-bytes save any",
     .help =
         "waits for jobs and prints their results as call does\n"
         "The exit status is that of the call, the highest of several; 75 if a job asks a "
         "question and there is no terminal to ask at. An interrupt ends the wait, not the job.\n\n"
         "mcp-nc wait \"$id\"\nmcp-nc wait \"$first\" \"$second\" --any",
     .handler = wait_for_jobs,
     .params = check_jobs,
     .traits = names_jobs},
    {.form = "answer JOB [ARGUMENT...]",
     .options = "decline cancel",
     .help = "answers a job's question; arguments as for call; without them, asks at the terminal\n"
             "Each value is converted to the type of its field.\n\n"
             "mcp-nc answer \"$id\" name=Ada\nmcp-nc answer \"$id\" --decline",
     .handler = answer_job,
     .params = check_job,
     .traits = takes_words | names_jobs},
    {.form = "cancel JOB",
     .help = "cancels a job and prints its state\n"
             "The state is not cancelled if the job had ended before.\n\n"
             "mcp-nc cancel \"$id\"",
     .handler = RequestHandler{"bridge/cancel", print_job_state},
     .params = job_params_of,
     .traits = names_jobs},
    {.form = "forget JOB",
     .help = "removes a job that has ended\n"
             "Its result is removed with it.\n\n"
             "mcp-nc forget \"$id\"",
     .handler = RequestHandler{"bridge/forget", print_done},
     .params = job_params_of,
     .traits = names_jobs},
    {.form = "tasks [get|result|cancel TASK]",
     .options = "max-bytes field names save",
     .help =
         "lists the server's own tasks; shows, awaits or cancels one\n"
         "For servers of MCP 2025-11-25. result waits until the task has ended, and prints what "
         "call prints. Detached calls are jobs of the daemon instead: mcp-nc jobs.\n\n"
         "mcp-nc call --task report\nmcp-nc tasks\nmcp-nc tasks result \"$id\"",
     .handler = show_tasks,
     .params = check_task,
     .traits = opens_session},
    {.form = "skills",
     .options = "max-bytes names",
     .help =
         "lists the skills that the server offers\n"
         "For servers with the extension io.modelcontextprotocol/skills. A skill is a resource: "
         "read URI prints it. Its text is the server's.\n\n"
         "mcp-nc skills\nmcp-nc read \"$uri\"",
     .handler = list_others,
     .traits = opens_session},
    {.form = "grep WORD...",
     .options = "max-bytes root all",
     .help = "tools, resources and prompts whose name or description has all the words\n"
             "Searches names, titles, descriptions and URIs, ignoring case. --all searches every "
             "server in your files and starts daemons that are not running, unless --no-start is "
             "given. Exit status 1 without a hit.\n\n"
             "mcp-nc grep file\nmcp-nc grep read file\nmcp-nc grep --all file",
     .handler = grep,
     .traits = opens_session},
    {.form = "templates",
     .options = "max-bytes names root",
     .help = "the server's resource templates\n"
             "A template is a URI with names in braces to be filled in.\n\n"
             "mcp-nc templates",
     .handler = list_others,
     .traits = opens_session},
    {.form = "server",
     .options = "max-bytes",
     .help = "the server: its name, capabilities, instructions, what it offers, what to type next\n"
             "Opens the session if there is none. mcp-nc @NAME at a terminal shows the same.\n\n"
             "mcp-nc server\nmcp-nc server --json | jq .capabilities",
     .handler = show_server,
     .traits = opens_session},
    {.form = "ping",
     .help = "pings the server and prints the response time\n"
             "MCP 2026-07-28 has no ping: the daemon answers for such a server.\n\n"
             "mcp-nc ping -w 5s",
     .handler = ping},
    {.form = "subscribe URI...",
     .help = "requests notifications of changed resources; listen shows them\n"
             "Returns at once; the subscription stays with the daemon's session.\n\n"
             "mcp-nc subscribe demo://ticker\nmcp-nc listen",
     .handler = change_subscriptions,
     .traits = opens_session},
    {.form = "unsubscribe URI...",
     .help = "ends a subscription\n"
             "Another client's subscription of the same URI stays.\n\n"
             "mcp-nc unsubscribe demo://ticker",
     .handler = change_subscriptions,
     .traits = opens_session},
    {.form = "log-level LEVEL",
     .help = "sets the lowest level of the server's log messages: debug to emergency\n"
             "The levels are debug, info, notice, warning, error, critical, alert, emergency. The "
             "level is the session's, for all clients.\n\n"
             "mcp-nc log-level warning",
     .handler = RequestHandler{"logging/setLevel", print_level},
     .params = level_params,
     .traits = opens_session},
    {.form = "complete KIND NAME ARG VALUE [key=text...]",
     .options = "max-bytes root",
     .help = "the server's proposals for an argument that begins with VALUE; KIND is prompt "
             "or resource\n"
             "key=text gives the other arguments.\n\n"
             "mcp-nc complete prompt greet name A\n"
             "mcp-nc complete resource 'demo://{id}' id 1",
     .handler = RequestHandler{"completion/complete", print_completion},
     .params = completion_params,
     .traits = opens_session},
    {.form = "login",
     .options = "cancel device open",
     .help = "logs in at the server, in a browser\n"
             "Prints the address to open in a browser on stdout, and waits until the login is "
             "over. Pasting the browser's final address also works. An interrupt ends the "
             "wait, not the login. Exit status 1 if it is refused, 124 if it is not completed in "
             "time.\n\n"
             "mcp-nc login\nmcp-nc login --device",
     .handler = log_in},
    {.form = "logout",
     .help = "revokes and forgets the login\n"
             "Exit status 1 if the server could not be told; the login is forgotten anyway.\n\n"
             "mcp-nc logout",
     .handler = RequestHandler{"bridge/logout", print_logout}},
    {.form = "grant",
     .options = "tools read-only for calls name",
     .help = "prints a new grant: a part of your rights, for a step that has it as MCP_NC_GRANT\n\n"
             "mcp-nc grant --tools 'search_*' --calls 20",
     .handler = issue_grant},
    {.form = "grants",
     .help = "lists your grants: id, end, calls left, name\n\n"
             "mcp-nc grants",
     .handler = list_grants},
    {.form = "revoke ID",
     .help = "ends a grant, and those that were issued under it\n\n"
             "mcp-nc revoke \"$id\"",
     .handler = RequestHandler{"bridge/revoke", print_done},
     .params = grant_params},
    {.form = "monitor",
     .options = "for count",
     .help = "every message through the daemon, both directions, as it passes\n"
             "For the daemon's own user and root. Each message is shown at each point: from the "
             "client, to the server, and on its way back. Known secrets are replaced by ***. "
             "The daemon never waits for a slow monitor: missed messages are counted.\n\n"
             "mcp-nc monitor\nmcp-nc monitor --json --for 10s",
     .handler = monitor},
    {.form = "record FILE",
     .options = "for count",
     .help = "writes every message through the daemon to a file, until ^C\n"
             "In the form of monitor --json. Known secrets are replaced by ***; everything else "
             "is recorded, so only the file's owner may read it.\n\n"
             "mcp-nc @github record calls.jsonl",
     .handler = record},
    {.form = "replay FILE",
     .help =
         "sends the requests of such a file again; reports changed responses\n"
         "Requests with effects at the server have them again. Replaced secrets are sent as ***; "
         "requests about the session itself are not sent. Exit status 1 if a response differs.\n\n"
         "mcp-nc @github replay calls.jsonl\nmcp-nc @github replay calls.jsonl --json",
     .handler = replay,
     .traits = opens_session | takes_notifications},
    {.form = "agent-help",
     .options = "max-bytes save skill",
     .help = "instructions for a language model to use this session, on one page\n"
             "Under 1,500 tokens: the server, the commands, output, exit status, long calls and "
             "questions. The server's own text is shortened and marked as such.\n\n"
             "mcp-nc agent-help >>AGENTS.md\nmcp-nc agent-help --skill --save ~/.claude/skills",
     .handler = show_agent_help,
     .traits = opens_session | reports_no_session},
    {.form = "servers",
     .options = "names check",
     .help = "lists the servers in your files, and their running daemons\n"
             "A daemon that was started for a server ends after 30 minutes without a client. "
             "--check starts those that do not run and are not disabled, and exits with 1 if one "
             "cannot be used.\n\n"
             "mcp-nc servers\nmcp-nc servers --check -w 10s",
     .handler = list_servers},
    {.form = "approve @NAME",
     .options = "yes",
     .help = "shows and approves what a folder's .mcp.json runs\n"
             "A .mcp.json comes from the author of the folder: its servers run only after an "
             "approval, and after each change only after another one.\n\n"
             "mcp-nc approve @github\nmcp-nc approve --yes @github",
     .handler = approve_server,
     .traits = about_server},
    {.form = "stop @NAME",
     .help = "ends the daemons of a server\n"
             "Also those that were started with another definition, or with other values.\n\n"
             "mcp-nc stop @github",
     .handler = stop_server,
     .traits = about_server},
    {.form = "logs @NAME",
     .options = "follow",
     .help = "the log of its daemon\n"
             "A daemon that starts begins a new log if the old one is over 1 MiB.\n\n"
             "mcp-nc logs @github\nmcp-nc logs -f @github",
     .handler = show_logs,
     .traits = about_server},
    {.form = "link DIR [NAME...]",
     .options = "prefix",
     .help = "writes a command for each tool of the server into a folder; NAME: these only\n"
             "Each is a small script: arguments as for call, --help shows the tool. Run again, it "
             "brings its own files up to date and removes those of tools that are gone; other "
             "files stay. Names of other commands are left out.\n\n"
             "mcp-nc @github link ~/bin/github --prefix gh_",
     .handler = link_tools,
     .traits = opens_session},
    {.form = "shell",
     .help =
         "commands typed line by line, for one server\n"
         "Each line is a command with its arguments, without mcp-nc before it; exit, or the end "
         "of the input, ends the shell. Options before shell apply to each line. If the input "
         "is not a terminal, the exit status is that of the last line. Line editing comes from "
         "rlwrap: rlwrap mcp-nc shell.\n\n"
         "mcp-nc @github shell\nmcp-nc @github shell <commands.txt",
     .handler = run_shell},
    {.form = "help [COMMAND]",
     .help = "all commands on a page; one in full; options: all options, and the exit codes\n"
             "The man page is mcp-nc(1).\n\n"
             "mcp-nc help call",
     .handler = show_help},
    {.form = "version",
     .help = "the version\n\n"
             "mcp-nc version",
     .handler = show_version},
};

}  // namespace

std::span<const Verb> verbs() { return rows; }

}  // namespace client
