#include "verbs/roots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "text/utf8.hpp"
#include "text/visible_text.hpp"

namespace client {
namespace {

constexpr Milliseconds longest_asking(1000);

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

/// Whether a legacy server was told that there may be roots; true where each request says so.
bool has_declared(const json::Value* upstream) {
  const json::Value* const declared =
      upstream == nullptr ? nullptr : upstream->find("declared", json::Value::Kind::array);
  if (declared == nullptr) return true;  // a modern server, or a daemon that does not say
  return std::any_of(declared->items.begin(), declared->items.end(),
                     [](const json::Value& name) { return name.text == "roots"; });
}

/// Opens the session of a daemon that was just started as one with roots, so that any later call
/// can name some (a session's capabilities are those of its opening); `roots` as read_roots() gives
/// them. The server has none where none were named. Gives what the server said of itself, or why
/// there is no session: whatever is asked next would wait for one as long again.
Answer open_with_roots(Dialogue& dialogue, const std::string& roots) {
  dialogue.answer_roots(roots.empty() ? R"({"roots":[]})" : roots);
  dialogue.introduce();
  return dialogue.ask("server/discover", "");
}

/// Has a server that knows others, or none yet, ask for the roots that the dialogue answers with,
/// and waits until it has heard them, for a second at most: some never ask. Says on stderr if the
/// session was opened without roots, where no server asks. Gives what open_with_roots() does.
Answer tell_roots(Dialogue& dialogue, const Options& options) {
  dialogue.introduce();
  Answer described = dialogue.ask("server/discover", "");
  if (described.outcome != Answer::Outcome::result) return described;
  const Answer status = dialogue.ask("bridge/status", "");
  const auto known = json::parse(status.payload);
  const json::Value* const upstream =
      known ? known->find("upstream", json::Value::Kind::object) : nullptr;
  const bool is_modern = upstream != nullptr && upstream->string("era") == "modern";
  if (status.outcome != Answer::Outcome::result || is_modern) return described;
  if (!has_declared(upstream)) {
    const std::string program = typed_program(options);
    dialogue.console().note(fmt::format(
        "the session was opened without roots, so the server asks for none: {}",
        names_server(options)
            ? fmt::format("{} stop, then the next call opens it with roots", program)
            : "mcp-bridged --client-capabilities '{\"elicitation\":{},\"roots\":{}}' opens it with "
              "them"));
    return described;
  }
  dialogue.tell("notifications/roots/list_changed", "");
  const Deadline until = Deadline::earlier(Deadline::after(longest_asking), dialogue.deadline());
  if (dialogue.await_roots(until)) dialogue.ask("ping", "");  // it has read what we answered
  return described;
}

}  // namespace

std::string file_uri(std::string_view path) {
  std::string uri = "file://";
  for (const char c : path) {
    if (is_unreserved(c) || c == '/') {
      uri += c;
    } else {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return uri;
}

std::variant<std::string, UsageError> read_roots(const std::vector<std::string>& folders) {
  std::string roots;
  for (const std::string& folder : folders) {
    const std::unique_ptr<char, decltype(&std::free)> path(::realpath(folder.c_str(), nullptr),
                                                           &std::free);
    struct stat facts {};
    const bool is_there = path != nullptr && ::stat(path.get(), &facts) == 0;
    if (!is_there || !S_ISDIR(facts.st_mode)) {
      return UsageError{fmt::format("option --root: {}: {}", bridge::make_visible_line(folder),
                                    std::strerror(is_there ? ENOTDIR : errno))};
    }
    const std::string_view whole = path.get();
    std::string_view name = whole.substr(whole.rfind('/') + 1);
    if (name.empty() || !bridge::is_utf8(name)) name = "root";
    roots += fmt::format(R"({}{{"uri":{},"name":{}}})", roots.empty() ? "" : ",",
                         json::quote(file_uri(whole)), json::quote(name));
  }
  return roots.empty() ? roots : fmt::format("{{\"roots\":[{}]}}", roots);
}

std::optional<Answer> begin_with_roots(Dialogue& dialogue, const Options& options,
                                       const std::string& roots, bool is_new) {
  std::optional<Answer> described;
  if (is_new) {
    described = open_with_roots(dialogue, roots);
    if (described->outcome != Answer::Outcome::result) return described;
  } else if (!roots.empty()) {
    dialogue.answer_roots(roots);
  }
  if (!roots.empty()) described = tell_roots(dialogue, options);
  return described;
}

}  // namespace client
