#include "command_line/verb_manual.hpp"

#include <algorithm>
#include <iterator>

namespace client {
namespace {

using Example = std::string_view;

constexpr Example tools_examples[] = {"mcp-nc tools", "mcp-nc tools --brief", "mcp-nc tools search",
                                      "mcp-nc tools --json | jq '.tools[].name'"};
constexpr Example call_examples[] = {
    "mcp-nc call search query=\"lost sessions\" limit=3",
    "mcp-nc call search query=x tags=a tags=b filter.year=1999",
    "mcp-nc call put path=a.txt content:@notes.txt",
};
constexpr Example resources_examples[] = {"mcp-nc resources", "mcp-nc resources --names"};
constexpr Example read_examples[] = {"mcp-nc read demo://readme",
                                     "mcp-nc read demo://pixel --save pictures"};
constexpr Example prompts_examples[] = {"mcp-nc prompts"};
constexpr Example prompt_examples[] = {"mcp-nc prompt greet name=Ada"};
constexpr Example request_examples[] = {"mcp-nc request ping",
                                        "mcp-nc request tools/call '{\"name\":\"echo\"}'"};
constexpr Example notify_examples[] = {"mcp-nc notify notifications/roots/list_changed"};
constexpr Example listen_examples[] = {"mcp-nc listen --for 10s", "mcp-nc listen --for 0",
                                       "mcp-nc listen --since 0 --seq"};
constexpr Example status_examples[] = {"mcp-nc status", "mcp-nc status --watch",
                                       "mcp-nc status --ready -w 2s"};
constexpr Example jobs_examples[] = {"mcp-nc jobs"};
constexpr Example wait_examples[] = {"mcp-nc wait \"$id\"",
                                     "mcp-nc wait \"$first\" \"$second\" --any"};
constexpr Example answer_examples[] = {"mcp-nc answer \"$id\" name=Ada",
                                       "mcp-nc answer \"$id\" --decline"};
constexpr Example cancel_examples[] = {"mcp-nc cancel \"$id\""};
constexpr Example forget_examples[] = {"mcp-nc forget \"$id\""};
constexpr Example tasks_examples[] = {"mcp-nc call --task report", "mcp-nc tasks",
                                      "mcp-nc tasks result \"$id\""};
constexpr Example grep_examples[] = {"mcp-nc grep file", "mcp-nc grep read file",
                                     "mcp-nc grep --all file"};
constexpr Example templates_examples[] = {"mcp-nc templates"};
constexpr Example server_examples[] = {"mcp-nc server", "mcp-nc server --json | jq .capabilities"};
constexpr Example ping_examples[] = {"mcp-nc ping -w 5s"};
constexpr Example subscribe_examples[] = {"mcp-nc subscribe demo://ticker", "mcp-nc listen"};
constexpr Example unsubscribe_examples[] = {"mcp-nc unsubscribe demo://ticker"};
constexpr Example log_level_examples[] = {"mcp-nc log-level warning"};
constexpr Example complete_examples[] = {"mcp-nc complete prompt greet name A",
                                         "mcp-nc complete resource 'demo://{id}' id 1"};
constexpr Example monitor_examples[] = {"mcp-nc monitor", "mcp-nc monitor --json --for 10s"};
constexpr Example record_examples[] = {"mcp-nc @github record calls.jsonl"};
constexpr Example replay_examples[] = {"mcp-nc @github replay calls.jsonl",
                                       "mcp-nc @github replay calls.jsonl --json"};
constexpr Example agent_help_examples[] = {"mcp-nc agent-help >>AGENTS.md",
                                           "mcp-nc agent-help --skill --save ~/.claude/skills"};
constexpr Example skills_examples[] = {"mcp-nc skills", "mcp-nc read \"$uri\""};
constexpr Example login_examples[] = {"mcp-nc login", "mcp-nc login --device"};
constexpr Example logout_examples[] = {"mcp-nc logout"};
constexpr Example servers_examples[] = {"mcp-nc servers", "mcp-nc servers --names"};
constexpr Example approve_examples[] = {"mcp-nc approve @github", "mcp-nc approve --yes @github"};
constexpr Example stop_examples[] = {"mcp-nc stop @github"};
constexpr Example logs_examples[] = {"mcp-nc logs @github", "mcp-nc logs -f @github"};
constexpr Example shell_examples[] = {"mcp-nc @github shell", "mcp-nc @github shell <commands.txt"};
constexpr Example help_examples[] = {"mcp-nc help call"};
constexpr Example version_examples[] = {"mcp-nc version"};

constexpr VerbManual manuals[] = {
    {"tools",
     "More than 20 tools are shown with a line each. Of one tool everything is shown: its "
     "parameters with what is in them, what it answers, what it promises, and a call to copy.",
     tools_examples},
    {"call",
     "The arguments are checked by the tool's input schema before anything is sent (exit status "
     "2). A tool that says that it failed is exit status 1.",
     call_examples},
    {"resources", "The templates of resources are listed behind them.", resources_examples},
    {"read", "Text is printed as it is; of bytes only what they are, unless --save DIR takes them.",
     read_examples},
    {"prompts", "What has to be given is marked with a star.", prompts_examples},
    {"prompt", "Each message is printed behind the name of its role.", prompt_examples},
    {"request", "The result is printed as the server wrote it, whatever it is.", request_examples},
    {"notify", "Nothing is answered to a notification; so nothing is printed.", notify_examples},
    {"listen",
     "Shows what the server says by itself, first what came while nobody listened. What is shown "
     "is taken from the daemon, but for --since and --seq.",
     listen_examples},
    {"status", "It takes no notification. Exit status 0 whenever the daemon answers.",
     status_examples},
    {"jobs", "Those that have ended are listed too, for as long as the daemon keeps them.",
     jobs_examples},
    {"wait",
     "The exit status is that of the call, of several the highest; 75 if one asks something and "
     "nobody can be asked here. An interrupt ends the waiting, not the job.",
     wait_examples},
    {"answer", "Each value is read by the type of its field.", answer_examples},
    {"cancel", "The state is another than cancelled if the job had ended before.", cancel_examples},
    {"forget", "Its result is gone then.", forget_examples},
    {"tasks",
     "Those of a server of MCP 2025-11-25. result waits until the task has ended, and prints what "
     "call prints. Calls that are detached are jobs of the daemon: mcp-nc jobs.",
     tasks_examples},
    {"skills",
     "Of a server with the extension io.modelcontextprotocol/skills. A skill is a resource: read URI "
     "prints it. What it says are the server's words.",
     skills_examples},
    {"grep",
     "Looks into names, titles, descriptions and URIs, in small and capital letters alike. With --all "
     "into every server that files name: daemons that do not run are started, unless with "
     "--no-start. Exit status 1 if there is no hit.",
     grep_examples},
    {"templates", "A template is a URI with names in braces to be filled in.", templates_examples},
    {"server", "Opens the session if there is none.", server_examples},
    {"ping", "A server of MCP 2026-07-28 knows no ping: the daemon answers for it.", ping_examples},
    {"subscribe",
     "Returns at once; the subscription stays with the daemon's session when mcp-nc has left.",
     subscribe_examples},
    {"unsubscribe", "Another client's subscription of the same URI stays.", unsubscribe_examples},
    {"log-level",
     "The levels are debug, info, notice, warning, error, critical, alert, emergency. It counts "
     "for the session, whoever listens.",
     log_level_examples},
    {"complete", "key=text says what the other arguments are.", complete_examples},
    {"monitor",
     "For the daemon's own user and root. Each message is seen where it comes from a client, where "
     "it goes to the server, and on its way back. Known secrets are blotted out. Nobody waits for "
     "who watches: what was missed is counted.",
     monitor_examples},
    {"record",
     "What monitor --json prints, a line each. Known secrets are blotted out; the rest of what is "
     "said is in it, so only its owner may read it.",
     record_examples},
    {"replay",
     "What acts at the server acts again. What was blotted out is sent so, and what is about the "
     "session itself is not sent. Exit status 1 if an answer is another.",
     replay_examples},
    {"agent-help",
     "Under 1,500 tokens: what is connected, the commands, output, exit status, long calls and "
     "questions. What the server says of itself is cut and marked as its words.",
     agent_help_examples},
    {"login",
     "Shows the address to be opened in a browser, on stdout, and waits until the login is over. The "
     "address at which the browser ends may be pasted. An interrupt ends the waiting, not the "
     "login. Exit status 1 if it is refused, 124 if nobody completes it in time.",
     login_examples},
    {"logout", "Exit status 1 if the server could not be told; it is forgotten all the same.",
     logout_examples},
    {"servers",
     "A daemon that was started for a server ends by itself after 30 minutes without a client.",
     servers_examples},
    {"approve",
     "A .mcp.json comes from whoever wrote the folder: what it names runs only after this, and "
     "again only after this when it is changed.",
     approve_examples},
    {"stop", "Also those that were started with another definition, or with other values.",
     stop_examples},
    {"logs", "It begins anew when a daemon is started and there is more than a mebibyte.",
     logs_examples},
    {"shell",
     "Each line is a command with its arguments, without mcp-nc before it; exit or the end of the "
     "input ends it. What stands before shell counts for each. Of lines that are not typed the exit "
     "status is that of the last.",
     shell_examples},
    {"help", "All of it is in the man page, mcp-nc(1).", help_examples},
    {"version", "", version_examples},
};

constexpr std::string_view levels[] = {"debug", "info",     "notice", "warning",
                                       "error", "critical", "alert",  "emergency"};

}  // namespace

std::span<const std::string_view> log_levels() { return levels; }

const VerbManual* manual_of(std::string_view verb) {
  const auto* found =
      std::find_if(std::begin(manuals), std::end(manuals),
                   [verb](const VerbManual& manual) { return manual.verb == verb; });
  return found == std::end(manuals) ? nullptr : found;
}

}  // namespace client
