#include <algorithm>
#include <chrono>
#include <string>
#include <variant>
#include <vector>

#include "harness.hpp"
#include "json/json_text.hpp"
#include "policy/item_rule.hpp"
#include "policy/policy.hpp"
#include "policy/subject.hpp"
#include "text/utf8.hpp"

// The input: a file of --policy, a NUL, the params of requests, a NUL, globs, one on each line. The
// file is read or refused in linear time; each peer has one rule of it; a request whose params do
// not name its subject clearly is denied where that kind is restricted; a list of globs allows what
// a plain matcher says; what a peer is told is short and has no control characters.

namespace bridge {

// Replaces the log's, which would need its libraries; as strict, and allows fewer characters.
std::string printable(std::string_view text, std::size_t limit) {
  std::string shown(text.substr(0, limit));
  for (char& one : shown) one = one < ' ' || one > '~' ? '?' : one;
  return shown;
}

}  // namespace bridge

namespace {

using namespace bridge;
using Clock = std::chrono::steady_clock;

bool continues(char one) { return (static_cast<unsigned char>(one) & 0xc0) == 0x80; }

/// Uses a table of all prefixes: slow, and obviously correct.
bool matches_plainly(std::string_view pattern, std::string_view text) {
  std::vector<bool> row(text.size() + 1, false);
  row[0] = true;
  for (const char wanted : pattern) {
    std::vector<bool> next(text.size() + 1, false);
    for (std::size_t at = 0; at <= text.size(); ++at) {
      if (wanted == '*') {
        // A match ends only at the end of a character.
        const bool at_character = at == text.size() || !continues(text[at]);
        next[at] = row[at];
        for (std::size_t before = 0; before < at && !next[at]; ++before)
          next[at] = row[before] && at_character;
      } else if (row[at] && at < text.size()) {
        std::size_t after = at + 1;
        if (wanted == '?') {
          while (after < text.size() && continues(text[after])) ++after;
        } else if (wanted != text[at]) {
          continue;
        }
        next[after] = true;
      }
    }
    row = std::move(next);
  }
  return row[text.size()];
}

void check_denial(const PolicyRule& rule, const Subject& subject) {
  for (const std::string_view file : {"", "/etc/policy\x1b[2J.json"}) {
    const std::string told = denial(rule, subject, file);
    MUST(!told.empty() && told.size() < 600);
    MUST(std::none_of(told.begin(), told.end(), [](char one) { return one >= 0 && one < ' '; }));
  }
}

void check_requests(const PolicyRule& rule, std::string_view params) {
  const ToolList no_tools;
  for (const char* method : {"tools/call", "prompts/get", "resources/read", "resources/subscribe",
                             "completion/complete", "logging/setLevel", "tools/list", "ping"}) {
    const Subject subject = subject_of(method, params);
    const bool allowed = allows(rule, subject, no_tools);
    if (subject.kind == Subject::Kind::session) {
      MUST(allowed);
      continue;
    }
    if (rule.is_none()) MUST(!allowed);
    if (rule.restricts_nothing()) MUST(allowed);
    const bool restricted =
        (subject.kind == Subject::Kind::tool && !rule.tools.allows_all()) ||
        (subject.kind == Subject::Kind::prompt && !rule.prompts.allows_all()) ||
        (subject.kind == Subject::Kind::resource && !rule.resources.allows_all()) ||
        (subject.kind == Subject::Kind::method && !rule.methods.allows_all());
    if (restricted && !subject.is_clear) MUST(!allowed);
    if (!restricted && !rule.is_none()) MUST(allowed);
    if (!allowed) check_denial(rule, subject);
  }
}

AccountNames accounts() {
  AccountNames names;
  names.user = [](const std::string& name) -> std::optional<uid_t> {
    if (name.size() > 8) return std::nullopt;
    return static_cast<uid_t>(name.size());
  };
  names.group = names.user;
  return names;
}

void check_file(std::string_view text, std::string_view params) {
  const AccountNames names = accounts();
  const auto read = Policy::read(text, names);
  if (const auto* const fault = std::get_if<std::string>(&read)) {
    MUST(!fault->empty() && fault->size() < 600);
    MUST(
        std::none_of(fault->begin(), fault->end(), [](char one) { return one >= 0 && one < ' '; }));
    return;
  }
  const Policy& policy = std::get<Policy>(read);
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  for (uid_t uid = 0; uid < 4; ++uid) {
    for (const bool http : {false, true}) {
      const Peer peer{http, uid, uid, {uid + 1}};
      const PolicyRule& rule = policy.rule_for(peer);
      MUST(rule.is_none() || (rule.matches(peer) && rule.number <= policy.size()));
      MUST(rule.is_none() || (rule.line >= 1 && rule.line <= lines));
      check_requests(rule, params);
    }
  }
}

/// `lines`: a glob each. The last that matches decides, by a matcher that knows no forms of globs.
void check_globs(std::string_view lines, std::string_view name) {
  if (!is_utf8(lines) || !is_utf8(name)) return;
  std::vector<std::string> globs;
  bool allows_any = false;
  bool is_allowed = false;
  while (!lines.empty()) {
    const auto end = std::min(lines.find('\n'), lines.size());
    std::string_view glob = globs.emplace_back(lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
    const bool takes_away = glob.starts_with('!');
    if (takes_away) glob.remove_prefix(1);
    const bool matches = matches_plainly(glob, name);
    MUST(matches_glob(glob, name) == matches);
    allows_any = allows_any || !takes_away;
    if (matches) is_allowed = !takes_away;
  }
  MUST(ItemRule::of_globs(globs).allows(name, false) == (allows_any && is_allowed));
}

/// Up to a NUL, which is taken as well.
std::string_view take_part(std::string_view& rest) {
  const auto end = std::min(rest.find('\0'), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const std::string_view text = take_part(rest);
  const std::string_view params = take_part(rest);
  const auto begin = Clock::now();
  // The params of a frame are always JSON, whatever their content.
  check_file(text, is_json(params) ? params : "{}");
  check_globs(rest.substr(0, 64), params.substr(0, 256));
  MUST(Clock::now() - begin < std::chrono::seconds(10));
  return 0;
}
