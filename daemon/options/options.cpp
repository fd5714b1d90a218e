#include "options/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "options/option_builder.hpp"
#include "options/option_groups.hpp"
#include "options/options_file.hpp"
#include "service/log.hpp"
#include "service/start_error.hpp"

namespace bridge {

void wrong_value(const std::string& option, const std::string& value, const std::string& expected) {
  throw StartError(exit_code::usage, fmt::format("{}: '{}' is not {}", option, printable(value), expected));
}

namespace {

/// What a line about a flag says: `control = no` and `no-control` are the same.
std::string flag_value(const std::string& name, const std::string& value) {
  const auto is_one_of = [&value](std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), value) != words.end();
  };
  const bool yes = is_one_of({"", "true", "yes", "on", "1"});
  if (!yes && !is_one_of({"false", "no", "off", "0"})) wrong_value(name, value, "true or false");
  return yes != name.starts_with("no-") ? "true" : "false";
}

/// Fills what neither a flag nor the environment has set.
void apply_file(CLI::App& app, const std::string& path) {
  for (const auto& [name, values] : read_options_file(path)) {
    CLI::Option* option = name == "options-file" ? nullptr : app.get_option_no_throw("--" + name);
    if (option == nullptr) {
      throw StartError(exit_code::configuration, fmt::format("{}: there is no option '{}'", path, printable(name)));
    }
    if (option->count() > 0) continue;
    const bool is_flag = option->get_expected_max() == 0;
    try {
      for (const std::string& value : values) option->add_result(is_flag ? flag_value(name, value) : value);
      option->run_callback();
    } catch (const StartError& error) {
      throw StartError(exit_code::configuration, fmt::format("{}: {}", path, error.what()));
    } catch (const CLI::Error& error) {
      throw StartError(exit_code::configuration, fmt::format("{}: {}: {}", path, name, error.what()));
    }
  }
}

/// CLI11 writes the value of a negated flag behind its name, which only confuses.
std::string help_of(const CLI::App& app) {
  static constexpr std::string_view negation = "{false}";
  std::string text = app.help();
  for (std::size_t at = text.find(negation); at != text.npos; at = text.find(negation, at)) {
    text.erase(at, negation.size());
  }
  return text;
}

/// One line of what CLI11 has to say.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

ParsedOptions parse_options(int argc, char** argv) {
  ParsedOptions result;
  Options& options = result.options;
  RawOptions raw;
  bool version = false;
  CLI::App app(
      "Holds one MCP session to one upstream server and lets many short-lived local processes use it\n"
      "through a Unix socket, one JSON-RPC message a line.",
      "mcp-bridged");
  app.get_formatter()->column_width(40);
  app.set_help_flag("-h,--help", "This text");
  app.add_flag("--version", version, "The version");
  app.add_flag("--check", options.check, "Only say whether all options are well: exit 0 or 78");
  OptionBuilder build(app);
  add_upstream_options(build, options, raw);
  add_trust_options(build, options);
  add_session_options(build, options, raw);
  add_client_options(build, options, raw);
  add_ring_options(build, options);
  add_http_face_options(build, options);
  add_running_options(build, options, raw);
  app.footer(
      "MCP_SERVER_TOKEN is sent as the bearer token. Durations: a number with ms, s, m or h; sizes: a\n"
      "number with K, M or G. Flags win over the environment over --options-file over the default.");
  const bool only_checks = std::any_of(argv + 1, argv + argc, [](const char* one) { return one == std::string_view("--check"); });
  const auto code = [only_checks](int usual) { return only_checks ? exit_code::configuration : usual; };
  try {
    app.parse(argc, argv);
    if (!raw.options_file.empty()) apply_file(app, raw.options_file);
    if (!version) {
      settle_client_options(options, raw);
      settle_http_face_options(options);
      settle_session_options(options, raw);
      settle_upstream_options(options, raw);
    }
    for (const CLI::Option* option : app.get_options()) {
      if (option->count() > 0) result.given[option->get_name()] = CLI::detail::join(option->results(), "\n");
    }
  } catch (const CLI::CallForHelp&) {
    result.informed = Informed{help_of(app)};
  } catch (const CLI::ParseError& error) {
    throw StartError(code(exit_code::usage), first_line(error.what()) + " (see --help)");
  } catch (const StartError& error) {
    throw StartError(code(error.code()), error.what());
  }
  if (version) result.informed = Informed{"mcp-bridged " MCP_BRIDGE_VERSION "\n"};
  return result;
}

}  // namespace bridge
