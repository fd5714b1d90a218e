#pragma once

#include <optional>
#include <string>
#include <vector>

#include "command_line/options.hpp"
#include "schema/arguments.hpp"
#include "verbs/dialogue.hpp"
#include "verbs/exit_code.hpp"
#include "verbs/tool_arguments.hpp"

namespace client {

/// The verbs. Each asks over the dialogue, prints and gives the exit code; stdout closed by its
/// reader is no failure.
ExitCode list_tools(Dialogue& dialogue, const Options& options);
ExitCode list_resources(Dialogue& dialogue, const Options& options);
ExitCode list_prompts(Dialogue& dialogue, const Options& options);

/// `params` is what the command line made of the operands, JSON.
ExitCode call_tool(Dialogue& dialogue, const Options& options, const ToolCall& call);
ExitCode read_resource_verb(Dialogue& dialogue, const Options& options, const std::string& params);
ExitCode get_prompt(Dialogue& dialogue, const Options& options, const std::string& params);
ExitCode send_request(Dialogue& dialogue, const Options& options, const std::string& params);
ExitCode send_notification(Dialogue& dialogue, const Options& options, const std::string& params);

/// Whether the call is one of those that are jobs of the daemon. They, and the verbs about jobs,
/// take no notification.
bool is_job(const Options& options);
ExitCode call_as_job(Dialogue& dialogue, const Options& options, const std::string& params);
ExitCode list_jobs(Dialogue& dialogue, const Options& options);
ExitCode wait_for_jobs(Dialogue& dialogue, const Options& options);
/// `values` are for the fields of the job's question.
ExitCode answer_job(Dialogue& dialogue, const Options& options,
                    const std::vector<Argument>& values);
ExitCode cancel_job(Dialogue& dialogue, const Options& options);
ExitCode forget_job(Dialogue& dialogue, const Options& options);
/// The tasks of the server; of one of them its state or result, or its cancelling, as the operands
/// say.
ExitCode show_tasks(Dialogue& dialogue, const Options& options);
ExitCode list_skills(Dialogue& dialogue, const Options& options);
/// Asks the server to make a task of the call, and prints its id.
ExitCode call_as_task(Dialogue& dialogue, const Options& options, const std::string& params);
/// Sends again what FILE has recorded. ExitCode::answered_error if an answer is another.
ExitCode replay(Dialogue& dialogue, const Options& options);
/// Without a hit: ExitCode::answered_error.
ExitCode grep(Dialogue& dialogue, const Options& options);
ExitCode list_templates(Dialogue& dialogue, const Options& options);
ExitCode show_server(Dialogue& dialogue, const Options& options);
ExitCode ping(Dialogue& dialogue, const Options& options);
ExitCode subscribe(Dialogue& dialogue, const Options& options);
ExitCode unsubscribe(Dialogue& dialogue, const Options& options);
ExitCode set_log_level(Dialogue& dialogue, const Options& options);
ExitCode complete(Dialogue& dialogue, const Options& options, const std::string& params);

/// The skill for programs that load such; with --save DIR it is written there. Asks no daemon.
ExitCode print_skill(const Options& options, Console& console);
/// Also where the server cannot be reached; then it says so. `known`: what it has said of itself
/// already, or why it cannot.
ExitCode show_agent_help(Dialogue& dialogue, const Options& options,
                         const std::optional<Answer>& known);

ExitCode log_in(Dialogue& dialogue, const Options& options);
/// Asks at the terminal whether to, and logs in. False if nobody is logged in then.
bool log_in_if_wanted(Dialogue& dialogue);
/// ExitCode::answered_error if the server could not be told.
ExitCode log_out(Dialogue& dialogue, const Options& options);

ExitCode show_status(Dialogue& dialogue, const Options& options);

}  // namespace client
