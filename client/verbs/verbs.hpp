#pragma once

#include "command_line/options.hpp"
#include "verbs/dialogue.hpp"
#include "verbs/exit_code.hpp"

namespace client {

/// The verbs. Each asks over the dialogue, prints and gives the exit code; stdout closed by its
/// reader is no failure.
ExitCode list_tools(Dialogue& dialogue, const Options& options);
ExitCode list_resources(Dialogue& dialogue, const Options& options);
ExitCode list_prompts(Dialogue& dialogue, const Options& options);

/// `params` is what the command line made of the operands, JSON.
ExitCode call_tool(Dialogue& dialogue, const Options& options, const std::string& params);
ExitCode read_resource_verb(Dialogue& dialogue, const Options& options, const std::string& params);
ExitCode get_prompt(Dialogue& dialogue, const Options& options, const std::string& params);
ExitCode send_request(Dialogue& dialogue, const Options& options, const std::string& params);
ExitCode send_notification(Dialogue& dialogue, const Options& options, const std::string& params);

/// Without a hit: ExitCode::answered_error.
ExitCode grep(Dialogue& dialogue, const Options& options);
ExitCode list_templates(Dialogue& dialogue, const Options& options);
ExitCode show_server(Dialogue& dialogue, const Options& options);
ExitCode ping(Dialogue& dialogue, const Options& options);
ExitCode subscribe(Dialogue& dialogue, const Options& options);
ExitCode unsubscribe(Dialogue& dialogue, const Options& options);
ExitCode set_log_level(Dialogue& dialogue, const Options& options);
ExitCode complete(Dialogue& dialogue, const Options& options, const std::string& params);

/// Also where the server cannot be reached; then it says so.
ExitCode show_agent_help(Dialogue& dialogue, const Options& options);

ExitCode show_status(Dialogue& dialogue, const Options& options);

}  // namespace client
