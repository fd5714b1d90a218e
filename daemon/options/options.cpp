#include "options/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/descriptors.hpp"
#include "base/log.hpp"
#include "base/secret_file.hpp"
#include "base/start_error.hpp"
#include "cli/command_line.hpp"
#include "options/option_groups.hpp"
#include "options/option_table.hpp"
#include "process/resources.hpp"
#include "servers/toml_text.hpp"
#include "text/characters.hpp"
#include "text/similar.hpp"
#include "text/trim.hpp"

namespace bridge {

namespace {

bool is_changeable(const std::string& option) {
  static const std::set<std::string> changeable = {
      "--header",         "--connect-timeout", "--request-timeout", "--request-max",
      "--stream-retries", "--connect-wait",    "--keepalive",       "--grace",
      "--orphans",        "--park-requests",   "--input-wait",      "--log-level",
      "--log-format",     "--log-bodies"};
  return changeable.contains(option);
}

}  // namespace

std::vector<std::string> changed_names(const std::map<std::string, std::string>& before,
                                       const std::map<std::string, std::string>& now) {
  std::set<std::string> names;
  for (const auto* given : {&before, &now}) {
    for (const auto& [name, value] : *given) names.insert(name);
  }
  std::vector<std::string> changed;
  for (const std::string& name : names) {
    const auto then = before.find(name);
    const auto found = now.find(name);
    const bool same = then != before.end() && found != now.end() && then->second == found->second;
    if (!same) changed.push_back(name);
  }
  return changed;
}

std::vector<std::string> unchangeable_changes(const std::map<std::string, std::string>& before,
                                              const std::map<std::string, std::string>& now) {
  std::vector<std::string> changed = changed_names(before, now);
  std::erase_if(changed, is_changeable);
  return changed;
}

std::map<std::string, std::string> changeable_values(const ParsedOptions& parsed) {
  std::map<std::string, std::string> values = parsed.given;
  std::erase_if(values, [](const auto& one) { return !is_changeable(one.first); });
  const Options& options = parsed.options;
  values["--header"] = fmt::format("{}", fmt::join(options.upstream.http.headers, "\n"));
  if (options.policy) values["the rules of --policy"] = options.policy->text;
  return values;
}

std::string changed_for_good(const std::map<std::string, std::string>& before,
                             const std::map<std::string, std::string>& now) {
  return fmt::format("{}", fmt::join(unchangeable_changes(before, now), ", "));
}

std::string guards_of(const Options& options) {
  const auto rules = options.policy ? options.policy->policy.size() : 0;
  return fmt::format(
      "{}, {}",
      options.policy ? fmt::format("policy {}, {} rule{}", printable(options.policy->path), rules,
                                   rules == 1 ? "" : "s")
                     : "no policy",
      options.audit.target.empty() ? "no audit" : "audit " + printable(options.audit.target));
}

namespace {

/// `MCP_BRIDGE_SERVICE_HOST` for a service of the name `mcp-bridge`.
bool is_set_by_kubernetes(std::string_view name, std::string_view value) {
  if (name.ends_with("_SERVICE_HOST") || name.ends_with("_SERVICE_PORT") ||
      name.find("_SERVICE_PORT_") != name.npos)
    return true;
  if (name.ends_with("_PORT") && value.find("://") != value.npos) return true;
  constexpr std::string_view port = "_PORT_";
  const std::size_t at = name.find(port);
  return at != name.npos && at + port.size() < name.size() && is_digit(name[at + port.size()]);
}

}  // namespace

namespace {

/// The variable that is meant: one that is its beginning (MCP_BRIDGE_POLICY of
/// MCP_BRIDGE_POLICY_FILE), else a similar one.
std::string suggestion(std::string_view name, const std::vector<std::string_view>& known) {
  for (std::size_t end = name.rfind('_'); end != name.npos && end > 0;
       end = name.rfind('_', end - 1)) {
    const std::string_view beginning = name.substr(0, end);
    if (std::find(known.begin(), known.end(), beginning) != known.end())
      return fmt::format("; did you mean '{}'?", beginning);
  }
  return did_you_mean(name, known);
}

}  // namespace

std::vector<std::string> warnings_of_variables(const char* const* environment,
                                               const std::vector<std::string_view>& known) {
  std::vector<std::string> warnings;
  if (environment == nullptr) return warnings;  // after clearenv(3)
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    const std::string_view name = entry.substr(0, entry.find('='));
    const std::string_view value = entry.substr(std::min(entry.size(), name.size() + 1));
    const bool is_ours = name.starts_with("MCP_BRIDGE_") || name.starts_with("MCP_SERVER_") ||
                         name.starts_with("MCP_SOCKET_");
    if (!is_ours || value.empty() || is_set_by_kubernetes(name, value) ||
        std::find(known.begin(), known.end(), name) != known.end())
      continue;
    warnings.push_back(fmt::format("the variable {} names no option and is not used{}",
                                   printable(std::string(name)), suggestion(name, known)));
  }
  return warnings;
}

void name_options(OptionTable& table, Options& options, RawOptions& raw) {
  table.plain_flag("-h, --help", raw.help, "Print help");
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
  add_http_frontend_options(table, options);
  add_running_options(table, options, raw);
}

ParsedOptions parse_options(int all_argc, char** argv, const ParsedOptions* earlier) {
  ParsedOptions result;
  Options& options = result.options;
  RawOptions raw;
  // The words after `--` are the local server's command, whatever they look like.
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
  // For mcp-nc, which has no reader of TOML; not for a person.
  if (words.size() == 2 && words.front() == "--toml-as-json") {
    FileAsJson file = toml_as_json(read_small_file(std::string(words.back()), "--toml-as-json"));
    if (!file.fault.empty()) throw StartError(exit_code::configuration, file.fault);
    result.informed = Informed{std::move(file.text)};
    return result;
  }
  OptionTable table;
  StartChecks checks(only_checks);
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
      if (argc < all_argc && raw.command.empty())
        throw StartError(exit_code::usage, "no command after --");
      checks.run([&] { resolve_client_options(options, raw); });
      checks.run([&] { resolve_http_frontend_options(options); });
      checks.run([&] { resolve_session_options(options, raw); });
      checks.run([&] { resolve_upstream_options(options, raw, result.given); });
      resolve_job_options(options);
      checks.run([&] { resolve_running_options(options); });
      checks.run([&] { read_certificates(options.upstream.http); });
      if (options.check) check_files(options, raw, checks);
      checks.throw_faults();
      result.answers = raw.answers;
    }
    result.given.merge(table.given());
    std::vector<std::string_view> known = table.variables();
    known.emplace_back("MCP_SERVER_TOKEN");
    for (std::string& warning : warnings_of_variables(environ, known))
      options.warnings.push_back(std::move(warning));
  } catch (const StartError& error) {
    throw StartError(code(error.code()), table.with_sources(error.what()));
  }
  if (argc < all_argc)
    result.given["the command"] = fmt::format("{}", fmt::join(raw.command, "\n"));
  if (raw.version) result.informed = Informed{"mcp-bridged " MCP_BRIDGE_VERSION "\n"};
  return result;
}

namespace {

constexpr std::size_t max_file = 1u << 20;

}  // namespace

std::string read_small_file(const std::string& path, const std::string& what) {
  FileContent file = read_regular_file(path, max_file);
  if (!file.fault.empty()) {
    throw StartError(exit_code::configuration,
                     fmt::format("{}: cannot read {}: {}", what, printable(path), file.fault));
  }
  std::string content = std::move(file.bytes);
  while (!content.empty() && (content.back() == '\n' || content.back() == '\r')) content.pop_back();
  return content;
}

std::map<std::string, OptionTable::Lines> read_options_file(const std::string& path) {
  std::map<std::string, OptionTable::Lines> lines;
  std::istringstream content(read_small_file(path, "--options-file"));
  int number = 0;
  for (std::string line; std::getline(content, line);) {
    ++number;
    line = trimmed(line);
    if (line.empty() || line.front() == '#') continue;
    const auto end = line.find_first_of("= \t");
    std::string name = line.substr(0, end);
    std::string value =
        end == line.npos ? std::string() : std::string(trimmed(std::string_view(line).substr(end)));
    if (!value.empty() && value.front() == '=') value = trimmed(std::string_view(value).substr(1));
    name.erase(
        0, name.find_first_not_of('-') == name.npos ? name.size() : name.find_first_not_of('-'));
    OptionTable::Lines& of_option = lines[name];
    if (of_option.values.empty()) of_option.first = number;
    of_option.values.push_back(value);
  }
  return lines;
}

namespace {

constexpr std::size_t option_indent = 2;
constexpr std::size_t text_column = 8;

constexpr std::string_view introduction =
    R"(Usage: mcp-bridged [OPTIONS]
       mcp-bridged [OPTIONS] -- COMMAND [ARGUMENT...]

Holds one MCP session to one upstream server and lets many short-lived local
processes use it through a Unix socket, one JSON-RPC message per line. The
server is at a URL, or is the COMMAND, run by the daemon. Server and clients may
each speak any revision of MCP from 2024-11-05 to 2026-07-28.
)";

constexpr std::string_view conclusion = R"(
MCP_SERVER_TOKEN is sent as the bearer token if no option names another one.
Durations: a number with ms, s, m or h; sizes: a number with K, M or G.
Precedence: flags, then the environment, --options-file, the default.
)";

}  // namespace

std::string help_text(const std::vector<OptionTable::Row>& options) {
  std::string help(introduction);
  std::string_view group;
  for (const cli::Option& option : options) {
    if (option.group() != group) help += fmt::format("\n{}:\n", option.group());
    group = option.group();
    cli::add_option(help, option_indent, option, text_column);
  }
  return help.append(conclusion);
}

namespace {

/// Besides those of requests in flight: idle ones, the server stream, notifications and responses
/// being sent, token requests.
constexpr std::size_t other_upstream_connections = 64;
constexpr std::size_t child_descriptors = 16;

DescriptorShares needs_of(const Options& options) {
  DescriptorShares needs;
  needs.clients = options.max_connections();
  needs.upstream = options.upstream.kind == UpstreamKind::child
                       ? child_descriptors
                       : options.router.max_inflight + other_upstream_connections;
  if (options.metrics_listener.address) needs.metrics = MetricsListener::max_connections;
  if (options.frontend.is_on()) needs.frontend = options.frontend.wanted_connections();
  return needs;
}

}  // namespace

void share_descriptors(Options& options, Log& log) {
  const DescriptorShares needs = needs_of(options);
  const rlimit before = raise_descriptor_limit(needs.all());
  options.upstream.child.descriptors = before;
  options.upstream.auth.descriptors = before;
  const std::size_t limit = descriptor_limit();
  if (limit < DescriptorShares::smallest_limit) {
    throw StartError(exit_code::cannot_run,
                     fmt::format("the limit of file descriptors is {}, and at least {} are needed: "
                                 "raise ulimit -n or LimitNOFILE",
                                 limit, DescriptorShares::smallest_limit));
  }
  const DescriptorShares shares = needs.within(limit);
  options.frontend.max_connections = shares.frontend;
  if (limit >= needs.all()) return;
  options.connection_share = shares.clients;
  if (shares.upstream < needs.upstream) {
    // What is not for a request: a quarter, for the stream of the server's messages and tokens.
    options.router.max_inflight =
        std::min(options.router.max_inflight, std::max(shares.upstream * 3 / 4, std::size_t{1}));
  }
  const std::string of_frontend =
      options.frontend.is_on()
          ? fmt::format(", the HTTP frontend has at most {} connections at a time", shares.frontend)
          : std::string();
  log.event(LogLevel::warning, "file descriptors",
            "the limit of file descriptors is {}, and {} may be needed: at most {} clients and {} "
            "requests in flight{} (raise LimitNOFILE or ulimit -n)",
            limit, needs.all(), options.max_connections(), options.router.max_inflight,
            of_frontend);
}

}  // namespace bridge
