#include "options/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/log.hpp"
#include "base/start_error.hpp"
#include "options/help_text.hpp"
#include "options/option_groups.hpp"
#include "options/option_table.hpp"
#include "options/options_file.hpp"

namespace bridge {

void name_options(OptionTable& table, Options& options, RawOptions& raw) {
  table.plain_flag("-h, --help", raw.help, "This text");
  table.plain_flag("--version", raw.version, "The version");
  table.plain_flag("--check", options.check, "Only check the options: exit 0 or 78");
  add_upstream_options(table, options, raw);
  add_child_options(table, options);
  add_config_options(table, raw);
  add_trust_options(table, options);
  add_session_options(table, options, raw);
  add_client_options(table, options, raw);
  add_job_options(table, options);
  add_ring_options(table, options);
  add_http_face_options(table, options);
  add_running_options(table, options, raw);
}

ParsedOptions parse_options(int all_argc, char** argv, const ParsedOptions* earlier) {
  ParsedOptions result;
  Options& options = result.options;
  RawOptions raw;
  // What stands behind `--` is the local server's command, whatever it looks like.
  const int argc =
      static_cast<int>(std::find(argv, argv + all_argc, std::string_view("--")) - argv);
  if (argc < all_argc) raw.command.assign(argv + argc + 1, argv + all_argc);
  const std::vector<std::string_view> words(argv + std::min(argc, 1), argv + argc);
  const bool only_checks = std::find(words.begin(), words.end(), "--check") != words.end();
  raw.may_ask = earlier == nullptr && !only_checks;
  if (earlier != nullptr) raw.answers = earlier->answers;
  const auto code = [only_checks](int usual) {
    return only_checks ? exit_code::configuration : usual;
  };
  OptionTable table;
  name_options(table, options, raw);
  try {
    table.read_words(words);
    raw.url_on_command_line = table.is_given("url");
    raw.config_on_command_line = table.is_given("config");
    if (table.is_given("help")) {
      result.informed = Informed{help_text(table.rows())};
      return result;
    }
    table.read_environment();
    if (!raw.options_file.empty())
      table.read_file(raw.options_file, read_options_file(raw.options_file));
    if (!raw.version) {
      resolve_client_options(options, raw);
      resolve_http_face_options(options);
      resolve_session_options(options, raw);
      if (argc < all_argc && raw.command.empty())
        throw StartError(exit_code::usage, "there is no command behind --");
      resolve_upstream_options(options, raw, result.given);
      resolve_job_options(options);
      resolve_running_options(options);
      result.answers = raw.answers;
    }
    result.given.merge(table.given());
  } catch (const StartError& error) {
    throw StartError(code(error.code()), error.what());
  }
  if (argc < all_argc)
    result.given["the command"] = fmt::format("{}", fmt::join(raw.command, "\n"));
  if (raw.version) result.informed = Informed{"mcp-bridged " MCP_BRIDGE_VERSION "\n"};
  return result;
}

}  // namespace bridge
