#include "command_line/verb.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <memory>

#include "render/lists.hpp"
#include "render/table.hpp"
#include "servers/instance.hpp"
#include "text/characters.hpp"
#include "text/visible_text.hpp"
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

bool has_all(const json::Value& element, const std::vector<std::string>& words) {
  std::string text;
  for (const std::string_view member : {"name", "title", "description", "uri", "uriTemplate"})
    text += bridge::ascii_lower(element.string(member)) + "\n";
  return std::all_of(words.begin(), words.end(), [&text](const std::string& word) {
    return text.find(bridge::ascii_lower(word)) != std::string::npos;
  });
}

/// A line for each element of the lists, which are members of `object`.
std::string hit_lines(std::string_view object, const std::string& prefix, std::size_t width) {
  std::string text;
  for (const SearchedList& searched : searched_lists) {
    const auto list = json::find_member(object, searched.list.member);
    const auto elements = list ? json::elements(*list) : std::nullopt;
    for (std::size_t at = 0; elements && at < elements->size(); ++at) {
      const auto element = json::parse((*elements)[at]);
      if (!element) continue;
      std::string_view about;
      for (const std::string_view member : {"description", "title", "name"}) {
        const bool is_shown = member == searched.list.name;  // as the name, before it
        if (about.empty() && !is_shown) about = element->string(member);
      }
      text += about_line(
          fmt::format("{}{} {}", prefix, searched.kind, element->string(searched.list.name)), about,
          width);
    }
  }
  return text;
}

/// A verb of one server in a separate process, which is this program again, so that several servers
/// are asked in parallel. It asks nothing at the terminal. Destruction ends it.
class ServerSearch {
 public:
  ServerSearch(const std::string& server, const Options& options, const Verb* verb)
      : output_(::memfd_create("output", MFD_CLOEXEC)),
        errors_(::memfd_create("errors", MFD_CLOEXEC)),
        process_(::fork()) {
    if (process_ != 0) return;
    Options own = options;
    own.verb = verb;
    own.all = own.check = false;
    own.json = true;
    own.max_bytes.reset();
    own.server = server;
    if (!own.timeout) own.timeout = longest_of_one;
    ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
    ::dup2(output_.get(), STDOUT_FILENO);
    ::dup2(errors_.get(), STDERR_FILENO);
    ::_exit(static_cast<int>(run(own)));
  }
  ~ServerSearch() {
    if (process_ <= 0) return;
    ::kill(process_, SIGTERM);  // it cancels its request, if it has not ended
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  /// False: interrupted by a signal.
  bool await(const Interrupt& interrupt) const {
    return interrupt.await(hold_process(process_).get());
  }
  /// An object with the lists, or with an error.
  std::string output() const { return content_of(output_); }
  /// The last message on its stderr.
  std::string message() const {
    constexpr std::string_view own_name = "mcp-nc: ";
    std::string text = content_of(errors_);
    while (text.ends_with('\n')) text.pop_back();
    text.erase(0, text.rfind('\n') + 1);
    return text.substr(text.starts_with(own_name) ? own_name.size() : 0);
  }

 private:
  static constexpr Milliseconds longest_of_one{30'000};  // without -w

  static std::string content_of(const FileDescriptor& file) {
    std::string text;
    ::lseek(file.get(), 0, SEEK_SET);
    read_all(file.get(), text, text.max_size());
    return text;
  }

  FileDescriptor output_;
  FileDescriptor errors_;
  pid_t process_;
};

ExitCode end(Console& console, const Options& options, const std::string& json,
             const std::string& text, bool has_any) {
  console.print(options.json ? json : text);
  if (!has_any) console.remark(fmt::format("no hit for '{}'", fmt::join(options.operands, " ")));
  return has_any ? ExitCode::ok : ExitCode::answered_error;
}

/// One search in each server, null for a disabled one. Also says what is wrong with the files.
auto start_searches(const FoundServers& found, const Options& options, const Verb* verb,
                    Console& console) {
  for (const std::string& fault : found.faults) console.note(fault);
  std::vector<std::unique_ptr<ServerSearch>> all;
  for (const NamedServer& server : found.servers) {
    const std::string& name = server.definition.name;
    all.push_back(is_disabled(server.definition)
                      ? nullptr
                      : std::make_unique<ServerSearch>(name, options, verb));
  }
  return all;
}

ExitCode stop_searching(Interrupt& interrupt, Console& console) {
  const bool is_typed = interrupt.take() != SIGTERM;
  if (is_typed) console.end_echo();
  return is_typed ? ExitCode::interrupted : ExitCode::terminated;
}

}  // namespace

ExitCode grep(Dialogue& dialogue, const Options& options) {
  json::JsonObject hits;
  bool has_any = false;
  for (const SearchedList& searched : searched_lists) {
    const FetchedList fetched = fetch_list(dialogue, searched.list);
    // Many servers do not support this list, and report that as an error.
    if (fetched.failed && (fetched.failed->outcome != Answer::Outcome::error ||
                           read_error(fetched.failed->payload).code != ExitCode::answered_error))
      return dialogue.report(*fetched.failed);
    json::JsonArray list;
    for (const std::string_view element : fetched.elements()) {
      const auto value = json::parse(element);
      if (!value || !has_all(*value, options.operands)) continue;
      has_any = true;
      list.add(json::RawJson{element});
    }
    hits.add(searched.list.member, list);
  }
  const std::string object = hits.text();
  Console& console = dialogue.console();
  return end(console, options, object + "\n", hit_lines(object, "", console.output_width()),
             has_any);
}

ExitCode check_servers(const Options& options, Console& console, Interrupt& interrupt) {
  const FoundServers found = find_servers(all_files(options.config, environment_variable));
  const auto asked = start_searches(found, options, find_verb("server"), console);
  std::vector<std::vector<TableCell>> rows;
  json::JsonArray servers;
  bool are_well = found.faults.empty();
  for (std::size_t at = 0; at < asked.size(); ++at) {
    const NamedServer& server = found.servers[at];
    const std::string name = bridge::make_visible_line(server.definition.name);
    const auto add = [&](std::string_view state, Tone tone, const std::string& detail) {
      rows.push_back({{"@" + name, Tone::strong},
                      {std::string(state), tone},
                      {bridge::make_visible_line(detail)}});
      servers.add(json::JsonObject().add("name", name).add("state", state).add("detail", detail));
    };
    if (asked[at] == nullptr) {
      add("disabled", Tone::faint,
          fmt::format("in {}; it runs only when you name it",
                      bridge::make_visible_line(server.file)));
      continue;
    }
    if (!asked[at]->await(interrupt)) return stop_searching(interrupt, console);
    const json::Value answer = json::parse_or_null(asked[at]->output());
    const json::Value* const error = answer.find("error", json::Value::Kind::object);
    const bool is_well = error == nullptr && answer.is(json::Value::Kind::object);
    are_well = are_well && is_well;
    const bool wants_login = error != nullptr && error->string("kind") == "auth";
    const std::string_view state = is_well ? "ok" : wants_login ? "needs a login" : "fails";
    add(state, is_well ? Tone::good : Tone::bad,
        is_well ? fmt::format("{} {}", answer.string("name"), answer.string("version"))
                : asked[at]->message());
  }
  if (options.json) {
    console.print(json::JsonObject().add("servers", servers));
  } else {
    const Look look = look_of(console);
    console.print_raw(
        draw_lines(render_table("<NAME|STATE|SERVER, OR WHY", std::move(rows), look), look));
  }
  return are_well ? ExitCode::ok : ExitCode::answered_error;
}

ExitCode grep_all(const Options& options, Console& console, Interrupt& interrupt) {
  FoundServers found = find_servers(all_files(options.config, environment_variable));
  std::erase_if(found.servers,
                [](const NamedServer& server) { return is_disabled(server.definition); });
  const auto searches = start_searches(found, options, options.verb, console);
  if (found.servers.empty())
    return tell_failure(
        console, options,
        naming_failure("no servers to search: no file names one; see: mcp-nc servers"));
  bool has_any = false;
  std::string text;
  json::JsonArray servers;
  for (std::size_t at = 0; at < searches.size(); ++at) {
    if (!searches[at]->await(interrupt)) return stop_searching(interrupt, console);
    const std::string name = bridge::make_visible_line(found.servers[at].definition.name);
    const std::string output = searches[at]->output();
    json::JsonObject server;
    server.add("name", name);
    if (!json::find_member(output, tool_list.member)) {
      const std::string why = searches[at]->message();
      console.note(fmt::format("@{} was not searched: {}", name, why));
      servers.add(server.add("error", why));
      continue;
    }
    const std::string lines = hit_lines(output, fmt::format("@{} ", name), console.output_width());
    has_any = has_any || !lines.empty();
    text += lines;
    for (const SearchedList& searched : searched_lists) {
      const auto list = json::find_member(output, searched.list.member);
      server.add_unless_empty(searched.list.member, json::RawJson{list.value_or("")});
    }
    servers.add(server);
  }
  const std::string json = json::JsonObject().add("servers", servers).text() + "\n";
  return end(console, options, json, text, has_any);
}

}  // namespace client
