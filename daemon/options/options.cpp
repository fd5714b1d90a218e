#include "options/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/log.hpp"
#include "base/start_error.hpp"
#include "options/help_text.hpp"
#include "options/option_builder.hpp"
#include "options/option_description.hpp"
#include "options/option_groups.hpp"
#include "options/options_file.hpp"

namespace bridge {

void wrong_value(const std::string& option, const std::string& value, const std::string& expected) {
  throw StartError(exit_code::usage,
                   fmt::format("{}: '{}' is not {}", option, printable(value), expected));
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
      throw StartError(exit_code::configuration,
                       fmt::format("{}: there is no option '{}'", path, printable(name)));
    }
    if (option->count() > 0) continue;
    const bool is_flag = option->get_expected_max() == 0;
    try {
      for (const std::string& value : values)
        option->add_result(is_flag ? flag_value(name, value) : value);
      option->run_callback();
    } catch (const StartError& error) {
      throw StartError(exit_code::configuration, fmt::format("{}: {}", path, error.what()));
    } catch (const CLI::Error& error) {
      throw StartError(exit_code::configuration,
                       fmt::format("{}: {}: {}", path, name, error.what()));
    }
  }
}

std::vector<OptionDescription> descriptions_of(CLI::App& app) {
  std::vector<OptionDescription> all;
  for (const std::string& group : app.get_groups()) {
    for (const CLI::Option* option : app.get_options()) {
      if (option->get_group() != group || option->get_positional()) continue;
      OptionDescription one;
      // CLI11 calls the group that has no name "Options".
      one.group = group == "Options" ? "General" : group;
      for (const std::string& letter : option->get_snames()) one.names.push_back("-" + letter);
      for (const std::string& name : option->get_lnames()) one.names.push_back("--" + name);
      if (option->get_expected_max() > 0) one.value = option->get_type_name();
      one.default_value = option->get_default_str();
      one.variable = option->get_envname();
      one.text = option->get_description();
      all.push_back(std::move(one));
    }
  }
  return all;
}

/// One line of what CLI11 has to say.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

void name_options(CLI::App& app, Options& options, RawOptions& raw) {
  app.set_help_flag("-h,--help", "This text");
  app.add_flag("--version", raw.version, "The version");
  app.add_flag("--check", options.check, "Only check the options: exit 0 or 78");
  OptionBuilder build(app);
  add_upstream_options(build, options, raw);
  add_child_options(build, options);
  add_config_options(build, raw);
  add_trust_options(build, options);
  add_session_options(build, options, raw);
  add_client_options(build, options, raw);
  add_job_options(build, options);
  add_ring_options(build, options);
  add_http_face_options(build, options);
  add_running_options(build, options, raw);
}

}  // namespace

ParsedOptions parse_options(int all_argc, char** argv, const ParsedOptions* earlier) {
  ParsedOptions result;
  Options& options = result.options;
  RawOptions raw;
  // What stands behind `--` is the local server's command, whatever it looks like.
  const int argc =
      static_cast<int>(std::find(argv, argv + all_argc, std::string_view("--")) - argv);
  if (argc < all_argc) raw.command.assign(argv + argc + 1, argv + all_argc);
  const auto is_named = [&](std::string_view option) {
    return std::any_of(argv + 1, argv + argc, [option](std::string_view one) {
      return one.starts_with(option) && (one.size() == option.size() || one[option.size()] == '=');
    });
  };
  const bool only_checks = is_named("--check");
  raw.url_on_command_line = is_named("--url");
  raw.config_on_command_line = is_named("--config");
  raw.may_ask = earlier == nullptr && !only_checks;
  if (earlier != nullptr) raw.answers = earlier->answers;
  const auto code = [only_checks](int usual) {
    return only_checks ? exit_code::configuration : usual;
  };
  CLI::App app("", "mcp-bridged");
  name_options(app, options, raw);
  try {
    app.parse(argc, argv);
    if (!raw.options_file.empty()) apply_file(app, raw.options_file);
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
    for (const CLI::Option* option : app.get_options()) {
      if (option->count() > 0)
        result.given[option->get_name()] = CLI::detail::join(option->results(), "\n");
    }
  } catch (const CLI::CallForHelp&) {
    result.informed = Informed{help_text(describe_options())};
  } catch (const CLI::ParseError& error) {
    throw StartError(code(exit_code::usage), first_line(error.what()) + " (see --help)");
  } catch (const StartError& error) {
    throw StartError(code(error.code()), error.what());
  }
  if (argc < all_argc) result.given["the command"] = CLI::detail::join(raw.command, "\n");
  if (raw.version) result.informed = Informed{"mcp-bridged " MCP_BRIDGE_VERSION "\n"};
  return result;
}

std::vector<OptionDescription> describe_options() {
  Options options;
  RawOptions raw;
  CLI::App app("", "mcp-bridged");
  name_options(app, options, raw);
  std::vector<OptionDescription> all = descriptions_of(app);
  const OptionDescription command = describe_command();
  all.insert(std::find_if(all.begin(), all.end(),
                          [&](const auto& one) { return one.group == command.group; }),
             command);
  return all;
}

}  // namespace bridge
