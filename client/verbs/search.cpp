#include "verbs/search.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <memory>
#include <utility>

#include "json/json.hpp"
#include "servers/approve.hpp"
#include "servers/instance.hpp"
#include "servers/start.hpp"
#include "terminal/text.hpp"
#include "verbs/roots.hpp"
#include "verbs/server_lists.hpp"
#include "verbs/verbs.hpp"

namespace client {
namespace {

struct SearchedList {
  ServerList list;
  std::string_view kind;
};
constexpr std::array<SearchedList, 4> searched_lists = {{{tool_list, "tool"},
                                                         {resource_list, "resource"},
                                                         {template_list, "template"},
                                                         {prompt_list, "prompt"}}};

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  std::transform(small.begin(), small.end(), small.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return small;
}

bool has_all(const json::Value& element, const std::vector<std::string>& words) {
  std::string text;
  for (const std::string_view member : {"name", "title", "description", "uri", "uriTemplate"})
    text += in_small_letters(element.string(member)) + "\n";
  return std::all_of(words.begin(), words.end(), [&text](const std::string& word) {
    return text.find(in_small_letters(word)) != std::string::npos;
  });
}

std::string hit_line(const json::Value& element, const SearchedList& searched,
                     std::string_view prefix, std::size_t width) {
  std::string line =
      fmt::format("{}{} {}", prefix, searched.kind, element.string(searched.list.name));
  std::string_view about = element.string("description");
  if (about.empty()) about = element.string("title");
  if (searched.list.name != "name" && about.empty()) about = element.string("name");
  if (!about.empty()) line += fmt::format("  - {}", about.substr(0, about.find('\n')));
  line = make_visible_line(line);
  return (width == 0 ? line : std::string(fit_columns(line, width))) + "\n";
}

std::string why_not(const Answer& answer) {
  if (answer.outcome == Answer::Outcome::error) return describe_error(answer.payload);
  if (answer.outcome == Answer::Outcome::timed_out) return "no answer in time";
  return "its daemon closed the connection before it answered";
}

SearchOutcome search(Connected connected, const std::string& name, const Options& options,
                     Deadline deadline, bool is_new) {
  Interrupt interrupt;
  Console console(interrupt.descriptor());
  Dialogue dialogue(std::move(connected), options, deadline, true, console, interrupt);
  std::variant<Hits, Answer> found = Hits();
  if (is_new) found = open_with_roots(dialogue, "");
  if (!is_new || std::get<Answer>(found).outcome == Answer::Outcome::result)
    found = find_hits(dialogue, options, fmt::format("@{} ", name));
  if (auto* hits = std::get_if<Hits>(&found)) return {std::move(*hits)};
  const Answer& failed = std::get<Answer>(found);
  return {{}, why_not(failed), failed.outcome == Answer::Outcome::interrupted};
}

constexpr Milliseconds longest_of_one(30'000);  // without -w, which is for all of them together

using Reached = std::variant<Connected, Failure>;

Reached reach(const NamedServer& server, const Places& places, const Options& options,
              Console& console, Deadline deadline, bool& is_new) {
  if (!is_approved(server, places)) return naming_failure("it was not approved");
  const NamedDaemon daemon{
      server, places, paths_of(places, instance_of(server, environment_variable)), start_options()};
  const auto fits = choose_sockets(daemon.paths.socket, nullptr);
  if (const auto* error = std::get_if<UsageError>(&fits))
    return naming_failure(error->message, ExitCode::unreachable);
  auto connected = connect_to_daemon({daemon.paths.socket}, {}, Milliseconds(0), deadline);
  if (auto* one = std::get_if<Connected>(&connected)) return std::move(*one);
  const auto& failure = std::get<ConnectFailure>(connected);
  if (!failure.is_absent) return naming_failure(failure.message, ExitCode::unreachable);
  if (options.no_start) return naming_failure("no daemon runs for it");
  is_new = true;
  return start_named(daemon, console, deadline);
}

}  // namespace

std::variant<Hits, Answer> find_hits(Dialogue& dialogue, const Options& options,
                                     std::string_view prefix) {
  const std::size_t width = dialogue.console().output_width();
  Hits hits;
  for (const SearchedList& searched : searched_lists) {
    auto fetched = fetch_list(dialogue, searched.list);
    hits.json += fmt::format("{}\"{}\":[", hits.json.empty() ? "" : ",", searched.list.member);
    if (auto* failed = std::get_if<Answer>(&fetched)) {
      // Many servers have no such list, and say so with an error.
      if (failed->outcome != Answer::Outcome::error ||
          exit_code_for_error(failed->payload) != ExitCode::answered_error)
        return std::move(*failed);
      hits.json += ']';
      continue;
    }
    for (const std::string_view element :
         elements_of(std::get<std::vector<std::string>>(fetched), searched.list)) {
      const auto value = json::parse(element);
      if (!value || !has_all(*value, options.operands)) continue;
      hits.has_any = true;
      if (hits.json.back() != '[') hits.json += ',';
      hits.json += element;
      hits.text += hit_line(*value, searched, prefix, width);
    }
    hits.json += ']';
  }
  return hits;
}

ExitCode grep(Dialogue& dialogue, const Options& options) {
  const auto found = find_hits(dialogue, options, "");
  if (const auto* failed = std::get_if<Answer>(&found)) return dialogue.report(*failed);
  const Hits& hits = std::get<Hits>(found);
  Console& console = dialogue.console();
  console.print(options.json ? fmt::format("{{{}}}\n", hits.json) : hits.text);
  if (!hits.has_any)
    console.remark(fmt::format("no hit for '{}'", fmt::join(options.operands, " ")));
  return hits.has_any ? ExitCode::ok : ExitCode::answered_error;
}

std::string outcome_text(const SearchOutcome& outcome) {
  return fmt::format(R"({{"any":{},"text":{},"json":{},"why":{},"interrupted":{}}})",
                     outcome.hits.has_any, json::quote(outcome.hits.text),
                     json::quote(outcome.hits.json), json::quote(outcome.why),
                     outcome.was_interrupted);
}

SearchOutcome read_outcome(std::string_view text) {
  const auto told = json::parse(text);
  if (!told || !told->is(json::Value::Kind::object)) return {{}, "its search came to nothing"};
  SearchOutcome outcome;
  outcome.hits = {told->is_true("any"), std::string(told->string("text")),
                  std::string(told->string("json"))};
  outcome.why = told->string("why");
  outcome.was_interrupted = told->is_true("interrupted");
  return outcome;
}

ServerSearch::ServerSearch(Connected connected, const std::string& name, const Options& options,
                           Deadline deadline, bool is_new) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return;
  told_ = FileDescriptor(ends[0]);
  const FileDescriptor telling(ends[1]);
  process_ = ::fork();
  if (process_ != 0) return;
  told_ = FileDescriptor();
  write_all(telling.get(),
            outcome_text(search(std::move(connected), name, options, deadline, is_new)));
  ::_exit(0);
}

ServerSearch::~ServerSearch() {
  if (process_ <= 0) return;
  ::kill(process_, SIGTERM);  // it cancels what it has asked, if it has not ended
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

SearchOutcome ServerSearch::outcome(Interrupt& interrupt) {
  std::string text;
  std::array<char, 16384> buffer{};
  for (;;) {
    std::array<pollfd, 2> events = {
        {{told_.get(), POLLIN, 0}, {interrupt.descriptor(), POLLIN, 0}}};
    if (::poll(events.data(), events.size(), -1) < 0 && errno != EINTR) break;
    if (events[1].revents != 0) return {{}, "interrupted", true};
    if (events[0].revents == 0) continue;
    const ssize_t count = ::read(told_.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return read_outcome(text);
}

ExitCode grep_all(const Options& options, Console& console, Interrupt& interrupt) {
  auto places = make_places(environment_variable);
  if (auto* fault = std::get_if<std::string>(&places))
    return tell_failure(console, options, naming_failure(std::move(*fault), ExitCode::unreachable));
  const FoundServers found = find_servers(all_files(options.config, environment_variable));
  for (const std::string& fault : found.faults) console.note(fault);
  if (found.servers.empty())
    return tell_failure(console, options,
                        naming_failure("no file names a server (mcp-nc servers)"));

  const Deadline all = Deadline::after(options.timeout);
  const Deadline deadline = Deadline::earlier(all, Deadline::after(longest_of_one));
  std::vector<std::string> left_out;
  std::vector<std::unique_ptr<ServerSearch>> searches;
  for (const NamedServer& server : found.servers) {
    bool is_new = false;
    auto reached = reach(server, std::get<Places>(places), options, console, deadline, is_new);
    auto* const failure = std::get_if<Failure>(&reached);
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
  if (!has_any) console.remark(fmt::format("no hit for '{}'", fmt::join(options.operands, " ")));
  return has_any ? ExitCode::ok : ExitCode::answered_error;
}

}  // namespace client
