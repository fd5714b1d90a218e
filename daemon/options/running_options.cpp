#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/start_error.hpp"
#include "options/option_groups.hpp"
#include "options/option_table.hpp"

namespace bridge {

void add_running_options(OptionTable& table, Options& options, RawOptions& raw) {
  table.group("Running");
  table.text("--options-file", raw.options_file, "FILE", "More options, one 'name = value' a line");
  table.choice("--log-level", options.log.level,
               {{"debug", LogLevel::debug},
                {"info", LogLevel::info},
                {"warning", LogLevel::warning},
                {"error", LogLevel::error},
                {"off", LogLevel::off}},
               "What is logged on stderr");
  table.choice("--log-format", options.log.format,
               {{"text", LogFormat::text}, {"json", LogFormat::json}},
               "How: a line, or an object a line");
  table.flag("log-bodies", options.log.bodies,
             "At debug level log the messages too, with whatever is secret in them");
  table.flag(
      "debuggable", options.debuggable,
      "Let debuggers and other processes of the same user look into this one (core dumps too)");
  table.text("--state-dir", options.state.folder, "DIR",
             "Keep notifications and the session there, for the next daemon");
  table.choice("--sync", options.state.sync, {{"process", Sync::process}, {"power", Sync::power}},
               "What that survives: the end of the process, or the loss of power as well");
  table.choice("--at-end", options.state.keep_session, {{"keep", true}, {"end", false}},
               "With a state directory, at an orderly end: the session is left open at the server, "
               "or ended");
  table.text("--metrics-file", options.metrics_file, "FILE",
             "Write the Prometheus metrics there every 15 s, for a textfile collector");
}

void resolve_running_options(const Options& options) {
  if (options.metrics_file.empty()) return;
  const std::filesystem::path file(options.metrics_file);
  const std::string folder = file.has_parent_path() ? file.parent_path().string() : ".";
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    throw StartError(exit_code::configuration,
                     fmt::format("--metrics-file: cannot write in {}: {}", printable(folder),
                                 std::strerror(errno)));
  }
}

}  // namespace bridge
