#include "policy/policy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/contains.hpp"
#include "base/log.hpp"
#include "base/secret_file.hpp"
#include "cli/units.hpp"
#include "json/json_text.hpp"
#include "json/relaxed_json.hpp"
#include "text/utf8.hpp"

namespace bridge {

namespace {

/// Thrown within read() only.
struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Reads one file.
class PolicyReader final : DocumentReader {
 public:
  PolicyReader(std::string_view text, const AccountNames& names)
      : DocumentReader(text), names_(names) {}

  std::vector<PolicyRule> read() const {
    if (!is_utf8(whole())) throw Fault("not UTF-8");
    if (const std::string place = place_of_fault(); !place.empty())
      throw Fault(place + ": not JSON");
    std::vector<PolicyRule> rules;
    bool has_rules = false;
    for (const auto& [name, value] : members(whole(), "a policy is an object")) {
      if (name != "rules") unknown(value, name, "rules");
      has_rules = true;
      for (const std::string_view one : elements(value, "rules is a list")) {
        rules.push_back(rule(one));
        rules.back().number = rules.size();
      }
    }
    if (!has_rules) throw Fault("a policy needs \"rules\", a list");
    return rules;
  }

 private:
  [[noreturn]] void fail(std::string_view part, const std::string& why) const override {
    throw Fault(fmt::format("line {}: {}", line_of(part), why));
  }
  [[noreturn]] void unknown(std::string_view part, const std::string& name,
                            std::string_view known) const {
    fail(part, fmt::format("unknown member '{}'; known: {}", printable(name, 80), known));
  }
  std::string text(std::string_view value, const std::string& what) const {
    const auto text = to_text(value);
    if (!text) fail(value, what);
    return *text;
  }

  PolicyRule rule(std::string_view object) const {
    PolicyRule rule;
    rule.line = line_of(object);
    for (const auto& [name, value] : members(object, "a rule is an object")) {
      if (name == "uid") {
        rule.names_users = true;
        rule.uids = ids(value, name, "user", names_.user);
      } else if (name == "gid") {
        rule.names_groups = true;
        rule.gids = ids(value, name, "group", names_.group);
      } else if (name == "http") {
        if (value != "true" && value != "false") fail(value, "http is true or false");
        rule.http = value == "true";
      } else if (name == "grant") {
        if (value != "true" && value != "false") fail(value, "grant is true or false");
        rule.grant = value == "true";
      } else if (name == "tools") {
        rule.tools = value == "\"read-only\"" ? ItemRule::read_only() : globs(value, name);
      } else if (name == "prompts") {
        rule.prompts = globs(value, name);
      } else if (name == "resources") {
        rule.resources = globs(value, name);
      } else if (name == "methods") {
        rule.methods = globs(value, name);
      } else if (name == "rate") {
        rule.rate = rate(value);
      } else if (name == "inflight") {
        const auto number = to_unsigned(value);
        if (!number || *number == 0 || *number > 1'000'000'000)
          fail(value, "inflight is a whole number of at least 1");
        rule.inflight = *number;
      } else {
        unknown(value, name,
                "uid, gid, http, grant, tools, prompts, resources, methods, rate, inflight");
      }
    }
    return rule;
  }

  template <class Id>
  std::vector<Id> ids(std::string_view value, const std::string& member, std::string_view kind,
                      const std::function<std::optional<Id>(const std::string&)>& find) const {
    std::vector<Id> all;
    const auto take = [&](std::string_view one) {
      const bool is_number = to_unsigned(one).has_value();
      if (!is_string(one) && !is_number)
        fail(one, fmt::format("{} is a {}'s name or id, or a list of such", member, kind));
      const std::string name = is_number ? std::string(one) : *to_text(one);
      const auto id = find(name);
      if (!id) fail(one, fmt::format("unknown {} '{}'", kind, printable(name, 80)));
      all.push_back(*id);
    };
    if (!value.starts_with('[')) {
      take(value);
    } else {
      for (const std::string_view one : elements(value, member + " is a list")) take(one);
    }
    return all;
  }

  ItemRule globs(std::string_view value, const std::string& member) const {
    const std::string what = member == "tools" ? "tools is a list of globs, or \"read-only\""
                                               : member + " is a list of globs";
    if (!value.starts_with('[')) fail(value, what);
    std::vector<std::string> all;
    for (const std::string_view one : elements(value, what)) {
      all.push_back(text(one, what));
      if (all.back().empty() || all.back() == "!") fail(one, "a glob is empty");
    }
    return ItemRule::of_globs(all);
  }

  Rate rate(std::string_view value) const {
    const std::string expected = "rate is \"N/TIME\", as \"60/1m\": N requests per TIME";
    const std::string given = text(value, expected);
    const auto slash = given.find('/');
    if (slash == given.npos) fail(value, expected);
    const auto number = to_unsigned(std::string_view(given).substr(0, slash));
    const auto time = cli::parse_duration(std::string_view(given).substr(slash + 1));
    if (!number || *number == 0 || *number > 1'000'000 || !time || time->count() == 0)
      fail(value, expected);
    return {*number, *time};
  }

  const AccountNames& names_;
};

}  // namespace

bool PolicyRule::matches(const Peer& peer) const {
  if (http && *http != peer.http) return false;
  if (grant && *grant != peer.grant) return false;
  if (names_users && (peer.http || !contains(uids, peer.uid))) return false;
  if (!names_groups) return true;
  return !peer.http && (contains(gids, peer.gid) ||
                        std::any_of(peer.groups.begin(), peer.groups.end(),
                                    [this](gid_t group) { return contains(gids, group); }));
}

void PolicyRule::narrow(const PolicyRule& other) {
  tools.narrow(other.tools);
  prompts.narrow(other.prompts);
  resources.narrow(other.resources);
  methods.narrow(other.methods);
}

std::variant<Policy, std::string> Policy::read(std::string_view text, const AccountNames& names) {
  Policy policy;
  try {
    policy.rules_ = PolicyReader(text, names).read();
  } catch (const Fault& fault) {
    return std::string(fault.what());
  }
  return policy;
}

const PolicyRule& Policy::rule_for(const Peer& peer) const {
  const auto found = std::find_if(rules_.begin(), rules_.end(),
                                  [&](const PolicyRule& rule) { return rule.matches(peer); });
  return found == rules_.end() ? none_ : *found;
}

namespace {

std::string peers_of(const PolicyRule& rule) {
  std::string text = rule.http == true ? "callers of the HTTP port" : "peers";
  if (rule.names_users) text += fmt::format(" of uid {}", fmt::join(rule.uids, ", "));
  if (rule.names_groups) text += fmt::format(" in group {}", fmt::join(rule.gids, ", "));
  if (rule.http == false) text += " that do not come over the HTTP port";
  return text;
}

bool allows_something(const PolicyRule& rule) {
  return rule.tools.allows_some() || rule.prompts.allows_some() || rule.resources.allows_some() ||
         rule.methods.allows_some();
}

}  // namespace

std::string explain_grants(const Policy& policy) {
  if (policy.size() == 0) return {};
  std::string text =
      "grants: a peer with a grant may do what the rule of the grant's first issuer allows and all "
      "lists of the grant; no rule is asked about the peer itself\n"
      "grants: one issued with a grant is also limited by the first rule that matches its issuer, "
      "as a peer with a grant; if none does, it allows nothing\n";
  for (const PolicyRule& rule : policy.rules()) {
    if (!rule.grant) continue;
    const std::string whom =
        fmt::format("rule {} (line {}): {}", rule.number, rule.line, peers_of(rule));
    if (*rule.grant) {
      text += fmt::format("{} with a grant: {}\n", whom,
                          allows_something(rule) ? "limits what they pass on by grants of their own"
                                                 : "grants that they pass on allow nothing");
    } else {
      text += fmt::format("{} without a grant: {}\n", whom,
                          allows_something(rule) ? "what they may do and pass on by grants"
                                                 : "may do nothing, and grants they have issued "
                                                   "allow nothing");
    }
  }
  return text;
}

std::variant<PolicyFile, std::string> read_policy_file(const std::string& path,
                                                       const AccountNames& names) {
  const std::string name = "--policy: " + printable(path);
  FileContent content = read_regular_file(path, PolicyFile::longest);
  if (!content.fault.empty()) return fmt::format("{}: {}", name, content.fault);
  if (content.status.st_uid != 0 && content.status.st_uid != geteuid()) {
    return fmt::format("{}: belongs to uid {}; it has to belong to root or to the daemon's user",
                       name, content.status.st_uid);
  }
  if ((content.status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return fmt::format("{}: other users can write to it (mode {:04o}); chmod go-w it", name,
                       content.status.st_mode & 07777);
  }
  auto policy = Policy::read(content.bytes, names);
  if (const auto* fault = std::get_if<std::string>(&policy))
    return fmt::format("{}: {}", name, *fault);
  return PolicyFile{path, std::move(content.bytes), std::get<Policy>(std::move(policy))};
}

}  // namespace bridge
