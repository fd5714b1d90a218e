// Tools as commands: a small script for each tool of a server.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

#include "base/contains.hpp"
#include "base/secret_file.hpp"
#include "schema/signature.hpp"
#include "servers/daemon_program.hpp"
#include "text/characters.hpp"
#include "text/shell_word.hpp"
#include "text/visible_text.hpp"
#include "verbs/server_lists.hpp"
#include "verbs/verbs.hpp"

namespace client {
namespace {

constexpr std::size_t longest_name = 100;
constexpr std::size_t longest_script = 8192;
constexpr mode_t for_all = 0755;

/// Words that a shell takes for its own; a file of that name would never be run.
constexpr std::string_view shell_words_of_its_own =
    "alias bg break builtin case cd command continue coproc declare do done echo elif else esac "
    "eval exec exit export false fc fg fi for function getopts hash help history if in jobs kill "
    "let local logout popd printf pushd pwd read readonly return select set shift shopt source "
    "suspend test then time times trap true type typeset ulimit umask unalias unset until wait "
    "while";

/// The program and the server as they are found from any folder.
std::string program_of(const Dialogue& dialogue, Options options) {
  if (!options.config.empty()) options.config = real_path(options.config);
  if (!names_server(options) && !dialogue.path().starts_with('@'))
    options.socket = real_path(dialogue.path());
  return typed_program(options);
}

/// The content of a regular file; nullopt if there is none, "" if it is not one of `mark`.
std::optional<std::string> script_in(const std::string& path, const std::string& mark) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0 && errno == ENOENT) return std::nullopt;
  std::string text =
      S_ISREG(facts.st_mode) ? bridge::read_regular_file(path, longest_script).bytes : "";
  return text.starts_with("#!/bin/sh\n" + mark) ? text : "";
}

/// Replaces our own file as a whole, or makes a new one; never another's. Returns errno.
int write_script(const std::string& folder, const std::string& path, const std::string& text,
                 bool is_present) {
  std::string next = folder + "/.mcp-nc-link-XXXXXX";
  const FileDescriptor file(::mkstemp(next.data()));
  if (!file) return errno;
  const bool is_done =
      bridge::write_all(file.get(), text) && ::fchmod(file.get(), for_all) == 0 &&
      (is_present ? ::rename(next.c_str(), path.c_str()) : ::link(next.c_str(), path.c_str())) == 0;
  const int error = is_done ? 0 : errno;
  ::unlink(next.c_str());
  return error;
}

/// What was done, and what was not.
struct Linked {
  json::JsonArray written, removed, skipped;
  bool is_whole = true;
};

void skip(Linked& linked, Console& console, const std::string& what, const std::string& why) {
  linked.is_whole = false;
  linked.skipped.add(
      json::JsonObject().add("name", bridge::make_visible_line(what)).add("why", why));
  console.note(fmt::format("'{}' is not linked: {}", what, why));
}

}  // namespace

std::string command_name(std::string_view tool, std::string_view prefix) {
  std::string name = fmt::format("{}{}", prefix, tool);
  for (char& c : name) {
    if (!bridge::is_plain_in_names(c)) c = '_';
  }
  if (name.empty() || name.front() == '.' || name.front() == '-') name.insert(0, "_");
  return name.substr(0, longest_name);
}

ExitCode link_tools(Dialogue& dialogue, const Options& options) {
  Console& console = dialogue.console();
  const FetchedList fetched = fetch_list(dialogue, tool_list);
  if (fetched.failed) return dialogue.report(*fetched.failed);
  const auto fail = [&](const std::string& what) {
    return tell_failure(console, options, {"file", what});
  };
  if (options.url.find_first_of("?@") != options.url.npos)
    return fail("the address may have secrets, which no script should have: name it in a file");
  const std::vector<std::string> wanted(options.operands.begin() + 1, options.operands.end());
  std::map<std::string, std::string> tools;  // by their files' names
  std::vector<std::string> all;
  Linked linked;
  for (const std::string_view one : fetched.elements()) {
    const std::string& tool = all.emplace_back(name_of(one, tool_list));
    const bool has_control = std::any_of(tool.begin(), tool.end(),
                                         [](unsigned char c) { return c < 0x20 || c == 0x7f; });
    if (tool.empty() || has_control) {
      skip(linked, console, tool, "its name is empty or has control characters");
      continue;
    }
    const auto [other, is_new] = tools.emplace(command_name(tool, options.prefix), tool);
    if (!is_new && other->second != tool)
      skip(linked, console, tool, fmt::format("its file would be that of '{}'", other->second));
  }
  for (const std::string& name : wanted) {
    if (!bridge::contains(all, name))
      return report_unknown({fmt::format("no tool '{}'", name)}, options, console);
  }
  const std::string typed = options.operands.front();
  if (const int error = make_folders(typed, 0777); error != 0)
    return fail(fmt::format("cannot create {}: {}", typed, std::strerror(error)));
  const std::string folder = real_path(typed);
  const std::string program = program_of(dialogue, options);
  // The second line of each script of this server and prefix tells them from all other files.
  const std::string mark =
      fmt::format("# written by: {} link, prefix '{}'; the next one replaces or removes it\n",
                  bridge::make_visible_line(program), bridge::make_visible_line(options.prefix));
  for (const auto& [name, tool] : tools) {
    if (!wanted.empty() && !bridge::contains(wanted, tool)) continue;
    const std::string path = fmt::format("{}/{}", folder, name);
    const std::string script = fmt::format(
        "#!/bin/sh\n{0}if [ $# = 1 ] && [ \"$1\" = --help ]; then exec {1} tools {2}; fi\n"
        "exec {1} call {2} \"$@\"\n",
        mark, program, tool_operand(tool));
    const auto present = script_in(path, mark);
    if (present && present->empty()) {
      skip(linked, console, tool, fmt::format("{} is another's file", path));
    } else if (bridge::has_word(shell_words_of_its_own, name) ||
               !find_program(name, folder).empty()) {  // a server must not take its place
      skip(linked, console, tool, "a command has that name; --prefix TEXT makes another one");
    } else if (const int error =
                   present == script ? 0 : write_script(folder, path, script, present.has_value());
               error != 0) {
      return fail(fmt::format("cannot write {}: {}", path, std::strerror(error)));
    } else {
      linked.written.add(name);
      if (!options.json) console.print_line(name);
    }
  }
  each_file(folder, "", [&](std::string_view name) {
    const std::string path = fmt::format("{}/{}", folder, name);
    const bool is_gone =
        !tools.contains(std::string(name)) && !script_in(path, mark).value_or("").empty();
    if (is_gone && ::unlink(path.c_str()) == 0) linked.removed.add(name);
  });
  if (options.json)
    console.print(json::JsonObject()
                      .add("linked", linked.written)
                      .add("removed", linked.removed)
                      .add("skipped", linked.skipped));
  return linked.is_whole ? ExitCode::ok : ExitCode::answered_error;
}

}  // namespace client
