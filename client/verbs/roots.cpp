#include "verbs/roots.hpp"

#include <fmt/format.h>

#include <cstring>

#include "text/characters.hpp"
#include "text/utf8.hpp"
#include "text/visible_text.hpp"

namespace client {
namespace {

constexpr Milliseconds longest_asking(1000);

/// Makes a server that knows other roots, or none yet, request those of the dialogue, and waits for
/// that, at most a second: some never ask. Reports on stderr if the session was opened without
/// roots, in which case few servers ask.
void tell_roots(Dialogue& dialogue, const Options& options) {
  const Answer status = dialogue.ask("bridge/status", "");
  const json::Value known = json::parse_or_null(status.payload);
  const json::Value& upstream = known.object("upstream");
  if (!status.ok() || upstream.string("era") == "modern") return;
  // A modern server gets them with each request, and a daemon may not say what it has declared.
  const json::Value* const declared = upstream.find("declared", json::Value::Kind::array);
  if (declared != nullptr &&
      std::none_of(declared->items.begin(), declared->items.end(),
                   [](const json::Value& name) { return name.text == "roots"; })) {
    const std::string program = typed_program(options);
    return dialogue.console().note(fmt::format(
        "the session was opened without roots, so the server may ask for none: {}",
        names_server(options)
            ? fmt::format("{} stop, then the next call opens it with roots", program)
            : "mcp-bridged --client-capabilities '{\"elicitation\":{},\"roots\":{}}' opens it with "
              "them"));
  }
  dialogue.tell("notifications/roots/list_changed", "");
  const Deadline until = Deadline::earlier(Deadline::after(longest_asking), dialogue.deadline());
  if (dialogue.await_roots(until)) dialogue.ask("ping", "");  // the server has read our roots then
}

}  // namespace

std::string file_uri(std::string_view path) {
  return "file://" + bridge::percent_encoded(path, "/");
}

std::variant<std::string, UsageError> read_roots(const std::vector<std::string>& folders) {
  json::JsonArray roots;
  for (const std::string& folder : folders) {
    const std::string path = real_path(folder);
    struct stat facts {};
    const bool is_there = ::stat(path.c_str(), &facts) == 0;
    if (!is_there || !S_ISDIR(facts.st_mode)) {
      return UsageError{fmt::format("option --root: {}: {}", bridge::make_visible_line(folder),
                                    std::strerror(is_there ? ENOTDIR : errno))};
    }
    std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
    if (name.empty() || !bridge::is_utf8(name)) name = "root";
    roots.add(json::JsonObject().add("uri", file_uri(path)).add("name", name));
  }
  return roots.is_empty() ? std::string() : json::JsonObject().add("roots", roots).text();
}

std::optional<Answer> begin_with_roots(Dialogue& dialogue, const Options& options,
                                       const std::string& roots, bool is_new) {
  if (!is_new && roots.empty()) return std::nullopt;
  // A daemon that was just started opens its session as one with roots, so that any later call can
  // name some (a session's capabilities are fixed at its opening). The server gets an empty list
  // where none were named.
  dialogue.answer_roots(roots.empty() ? R"({"roots":[]})" : roots);
  dialogue.introduce();
  Answer described = dialogue.ask("server/discover", "");
  if (!roots.empty() && described.ok()) tell_roots(dialogue, options);
  return described;
}

}  // namespace client
