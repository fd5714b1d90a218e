#include <fmt/format.h>

#include <csignal>
#include <memory>
#include <utility>
#include <vector>

#include "connection/connect.hpp"
#include "json/text.hpp"
#include "servers/approvals.hpp"
#include "servers/instance.hpp"
#include "terminal/visible.hpp"
#include "verbs/grep.hpp"
#include "verbs/named_daemon.hpp"
#include "verbs/server_search.hpp"

namespace client {
namespace {

constexpr Milliseconds longest_of_one(30'000);  // without -w, which is for all of them together

using Reached = std::variant<Connected, NamingFailure>;

Reached reach(const NamedServer& server, const Places& places, const Options& options,
              Console& console, Deadline deadline, bool& is_new) {
  if (!is_approved(server, places)) return NamingFailure{"it was not approved"};
  const NamedDaemon daemon{
      server, places, paths_of(places, instance_of(server, environment_variable)), start_options()};
  const auto fits = choose_sockets(daemon.paths.socket, nullptr);
  if (const auto* error = std::get_if<UsageError>(&fits))
    return NamingFailure{error->message, ExitCode::unreachable};
  auto connected = connect_to_daemon({daemon.paths.socket}, {}, Milliseconds(0), deadline);
  if (auto* one = std::get_if<Connected>(&connected)) return std::move(*one);
  const auto& failure = std::get<ConnectFailure>(connected);
  if (!failure.is_absent) return NamingFailure{failure.message, ExitCode::unreachable};
  if (options.no_start) return NamingFailure{"no daemon runs for it"};
  is_new = true;
  return start_named(daemon, console, deadline);
}

}  // namespace

ExitCode grep_all(const Options& options, Console& console, Interrupt& interrupt) {
  auto places = make_places(environment_variable);
  if (auto* fault = std::get_if<std::string>(&places))
    return report({std::move(*fault), ExitCode::unreachable}, options, console);
  const FoundServers found = find_servers(all_files(options.config, environment_variable));
  for (const std::string& fault : found.faults) console.note(fault);
  if (found.servers.empty())
    return report({"no file names a server (mcp-nc servers)"}, options, console);

  const Deadline all = Deadline::after(options.timeout);
  const Deadline deadline = Deadline::earlier(all, Deadline::after(longest_of_one));
  std::vector<std::string> left_out;
  std::vector<std::unique_ptr<ServerSearch>> searches;
  for (const NamedServer& server : found.servers) {
    bool is_new = false;
    auto reached = reach(server, std::get<Places>(places), options, console, deadline, is_new);
    auto* const failure = std::get_if<NamingFailure>(&reached);
    left_out.push_back(failure == nullptr ? std::string() : std::move(failure->message));
    searches.push_back(failure != nullptr ? nullptr
                                          : std::make_unique<ServerSearch>(
                                                std::get<Connected>(std::move(reached)),
                                                make_visible_line(server.definition.name), options,
                                                deadline, is_new));
  }
  bool has_any = false;
  std::string text;
  std::string json;
  for (std::size_t at = 0; at < searches.size(); ++at) {
    const std::string name = make_visible_line(found.servers[at].definition.name);
    const SearchOutcome outcome = searches[at] == nullptr
                                      ? SearchOutcome{{}, std::move(left_out[at])}
                                      : searches[at]->outcome(interrupt);
    if (outcome.was_interrupted)
      return interrupt.take() == SIGTERM ? ExitCode::terminated : ExitCode::interrupted;
    json += fmt::format("{}{{\"name\":{},", json.empty() ? "" : ",", json::quote(name));
    if (!outcome.why.empty()) {
      console.note(fmt::format("@{} was not searched: {}", name, outcome.why));
      json += fmt::format("\"error\":{}}}", json::quote(outcome.why));
      continue;
    }
    has_any = has_any || outcome.hits.has_any;
    text += outcome.hits.text;
    json += outcome.hits.json + "}";
  }
  console.print(options.json ? fmt::format("{{\"servers\":[{}]}}\n", json) : text);
  return has_any ? ExitCode::ok : ExitCode::answered_error;
}

}  // namespace client
