#include <fmt/format.h>

#include <utility>
#include <vector>

#include "connection/connect.hpp"
#include "json/text.hpp"
#include "servers/approvals.hpp"
#include "servers/instance.hpp"
#include "terminal/visible.hpp"
#include "verbs/describe_error.hpp"
#include "verbs/grep.hpp"
#include "verbs/named_daemon.hpp"

namespace client {
namespace {

constexpr Milliseconds longest_of_one(30'000);  // without -w, which is for all of them together

using Reached = std::variant<Connected, NamingFailure>;

Reached reach(const NamedServer& server, const Places& places, const Options& options,
              Console& console, Deadline deadline) {
  if (!is_approved(server, places)) return NamingFailure{"it was not approved"};
  const NamedDaemon daemon{server, places,
                           paths_of(places, instance_of(server, environment_variable))};
  const auto fits = choose_sockets(daemon.paths.socket, nullptr);
  if (const auto* error = std::get_if<UsageError>(&fits))
    return NamingFailure{error->message, ExitCode::unreachable};
  auto connected = connect_to_daemon({daemon.paths.socket}, {}, Milliseconds(0), deadline);
  if (auto* one = std::get_if<Connected>(&connected)) return std::move(*one);
  const auto& failure = std::get<ConnectFailure>(connected);
  if (!failure.is_absent) return NamingFailure{failure.message, ExitCode::unreachable};
  if (options.no_start) return NamingFailure{"no daemon runs for it"};
  return start_named(daemon, console, deadline);
}

std::string why_not(const Answer& answer) {
  if (answer.outcome == Answer::Outcome::error) return describe_error(answer.payload);
  if (answer.outcome == Answer::Outcome::timed_out) return "no answer in time";
  return "its daemon closed the connection before it answered";
}

}  // namespace

ExitCode grep_all(const Options& options, Console& console, Interrupt& interrupt) {
  auto places = make_places(environment_variable);
  if (auto* fault = std::get_if<std::string>(&places))
    return report({std::move(*fault), ExitCode::unreachable}, options, console);
  const FoundServers found = find_servers(config_files(options.config, environment_variable));
  for (const std::string& fault : found.faults) console.note(fault);
  if (found.servers.empty())
    return report({"no file names a server (mcp-nc servers)"}, options, console);

  const Deadline all = Deadline::after(options.timeout);
  bool has_any = false;
  std::string text;
  std::string json;
  for (const NamedServer& server : found.servers) {
    const std::string name = make_visible_line(server.definition.name);
    json += fmt::format("{}{{\"name\":{},", json.empty() ? "" : ",", json::quote(name));
    const auto leave_out = [&](const std::string& why) {
      console.note(fmt::format("@{} was not searched: {}", name, why));
      json += fmt::format("\"error\":{}}}", json::quote(why));
    };
    const Deadline deadline = Deadline::earlier(all, Deadline::after(longest_of_one));
    auto reached = reach(server, std::get<Places>(places), options, console, deadline);
    if (const auto* failure = std::get_if<NamingFailure>(&reached)) {
      leave_out(failure->message);
      continue;
    }
    Dialogue dialogue(std::get<Connected>(std::move(reached)), options, deadline, true, console,
                      interrupt);
    const auto found_there = find_hits(dialogue, options, fmt::format("@{} ", name));
    if (const auto* failed = std::get_if<Answer>(&found_there)) {
      if (failed->outcome == Answer::Outcome::interrupted) return dialogue.report(*failed);
      leave_out(why_not(*failed));
      continue;
    }
    const Hits& hits = std::get<Hits>(found_there);
    has_any = has_any || hits.has_any;
    text += hits.text;
    json += hits.json + "}";
  }
  console.print(options.json ? fmt::format("{{\"servers\":[{}]}}\n", json) : text);
  return has_any ? ExitCode::ok : ExitCode::answered_error;
}

}  // namespace client
