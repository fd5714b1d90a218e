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

ExitCode show_status(Dialogue& dialogue, const Options& options);

}  // namespace client
