#include "options/option_groups.hpp"

#include "base/start_error.hpp"
#include "options/option_table.hpp"
#include "upstream/stdio/child_command.hpp"

namespace bridge {

void add_child_options(OptionTable& table, Options& options) {
  table.group("Local server");
  table.command("-- COMMAND [ARGUMENT...]", "The server is run by the daemon");
  table.choice("--spawn", options.upstream.child.lazy, {{"start", false}, {"lazy", true}},
               "When a local server is started: with the daemon, or by the first request");
}

void resolve_child_options(Options& options) {
  ChildOptions& child = options.upstream.child;
  child.max_frame = options.clients.max_frame;
  child.request_timeout = options.upstream.http.request_timeout;
  child.request_max = options.upstream.http.request_max;
  if (child.command.front().empty())
    throw StartError(exit_code::usage, "the command after -- is empty");
  if (!options.check) return;
  const std::string fault = ChildCommand(child, environ).fault();
  if (!fault.empty()) throw StartError(exit_code::cannot_run, fault);
}

}  // namespace bridge
