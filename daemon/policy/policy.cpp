#include "policy/policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

#include "base/log.hpp"
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

template <class Id>
bool is_among(const std::vector<Id>& ids, Id id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

/// Reads one file. Positions in `text_` are those in the file.
class Reader {
 public:
  Reader(std::string_view text, const AccountNames& names)
      : text_(strict_json(text)), names_(names) {}

  std::vector<PolicyRule> read() const {
    if (!is_utf8(text_)) throw Fault("not UTF-8");
    JsonScanner scanner(text_);
    Slice whole;
    scanner.skip_space();
    bool well = scanner.value(whole);
    scanner.skip_space();
    well = well && scanner.at_end();
    if (!well) throw Fault(fmt::format("line {}: not JSON", line_at(scanner.position())));
    std::vector<PolicyRule> rules;
    bool has_rules = false;
    members(whole.of(text_), "a policy", [&](const std::string& name, std::string_view value) {
      if (name != "rules") unknown(value, name, "rules");
      has_rules = true;
      elements(value, "rules", [&](std::string_view one) {
        rules.push_back(rule(one));
        rules.back().number = rules.size();
      });
    });
    if (!has_rules) throw Fault("a policy needs \"rules\", a list");
    return rules;
  }

 private:
  std::size_t line_at(std::size_t position) const {
    const std::string_view before = std::string_view(text_).substr(0, position);
    return static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
  }
  /// `part` is one of `text_`.
  std::size_t line_of(std::string_view part) const {
    return line_at(static_cast<std::size_t>(part.data() - text_.data()));
  }
  [[noreturn]] void fail(std::string_view part, const std::string& why) const {
    throw Fault(fmt::format("line {}: {}", line_of(part), why));
  }
  [[noreturn]] void unknown(std::string_view part, const std::string& name,
                            std::string_view known) const {
    fail(part, fmt::format("unknown member '{}'; known: {}", printable(name, 80), known));
  }

  template <class Take>
  void members(std::string_view object, const std::string& what, Take&& take) const {
    std::set<std::string> names;
    const bool is_one = each_member(object, [&](std::string_view key, std::string_view value) {
      std::string name = unescape(key);
      if (!names.insert(name).second)
        fail(value, fmt::format("'{}' stands twice", printable(name, 80)));
      take(name, value);
      return true;
    });
    if (!is_one) fail(object, what + " is an object");
  }
  template <class Take>
  void elements(std::string_view array, const std::string& what, Take&& take) const {
    const bool is_one = each_element(array, [&](std::string_view value) {
      take(value);
      return true;
    });
    if (!is_one) fail(array, what + " is a list");
  }
  std::string text(std::string_view value, const std::string& what) const {
    const auto text = to_text(value);
    if (!text) fail(value, what);
    return *text;
  }

  PolicyRule rule(std::string_view object) const {
    PolicyRule rule;
    rule.line = line_of(object);
    members(object, "a rule", [&](const std::string& name, std::string_view value) {
      if (name == "uid") {
        rule.names_users = true;
        rule.uids = ids(value, name, "user", names_.user);
      } else if (name == "gid") {
        rule.names_groups = true;
        rule.gids = ids(value, name, "group", names_.group);
      } else if (name == "http") {
        if (value != "true" && value != "false") fail(value, "http is true or false");
        rule.http = value == "true";
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
        unknown(value, name, "uid, gid, http, tools, prompts, resources, methods, rate, inflight");
      }
    });
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
    if (value.starts_with('[')) {
      elements(value, member, take);
    } else {
      take(value);
    }
    return all;
  }

  ItemRule globs(std::string_view value, const std::string& member) const {
    const std::string what = member == "tools" ? "tools is a list of globs, or \"read-only\""
                                               : member + " is a list of globs";
    if (!value.starts_with('[')) fail(value, what);
    std::vector<std::string> all;
    elements(value, member, [&](std::string_view one) {
      all.push_back(text(one, what));
      if (all.back().empty() || all.back() == "!") fail(one, "a glob is empty");
    });
    return ItemRule::of_globs(all);
  }

  Rate rate(std::string_view value) const {
    const std::string expected = "rate is \"N/TIME\", as \"60/1m\": so many requests in that time";
    const std::string given = text(value, expected);
    const auto slash = given.find('/');
    if (slash == given.npos) fail(value, expected);
    const auto number = to_unsigned(std::string_view(given).substr(0, slash));
    const auto time = cli::parse_duration(std::string_view(given).substr(slash + 1));
    if (!number || *number == 0 || *number > 1'000'000 || !time || time->count() == 0)
      fail(value, expected);
    return {*number, *time};
  }

  const std::string text_;
  const AccountNames& names_;
};

}  // namespace

bool PolicyRule::matches(const Peer& peer) const {
  if (http && *http != peer.http) return false;
  if (names_users && (peer.http || !is_among(uids, peer.uid))) return false;
  if (!names_groups) return true;
  return !peer.http && (is_among(gids, peer.gid) ||
                        std::any_of(peer.groups.begin(), peer.groups.end(),
                                    [this](gid_t group) { return is_among(gids, group); }));
}

std::variant<Policy, std::string> Policy::read(std::string_view text, const AccountNames& names) {
  Policy policy;
  try {
    policy.rules_ = Reader(text, names).read();
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

}  // namespace bridge
