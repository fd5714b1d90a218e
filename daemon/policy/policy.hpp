#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "policy/item_rule.hpp"
#include "policy/peer.hpp"
#include "policy/rate.hpp"

namespace bridge {

/// What the peers that a rule matches, or that have a grant, may do. A value.
struct PolicyRule {
  std::size_t number =
      0;  ///< in the file, from 1; 0: no rule matches, and next to nothing may be done
  std::size_t line = 0;  ///< where it begins in the file, from 1

  // Conditions; one that is empty asks for nothing.
  std::vector<uid_t> uids;
  std::vector<gid_t> gids;
  bool names_users = false;   ///< `uid` is there, perhaps with nobody in it
  bool names_groups = false;  ///< `gid` likewise
  std::optional<bool> http;
  std::optional<bool> grant;

  ItemRule tools;
  ItemRule prompts;
  ItemRule resources;  ///< by uri, templates by their text
  ItemRule methods;    ///< all that is forwarded and is none of the three
  std::optional<Rate> rate;
  std::optional<std::size_t> inflight;

  bool is_of_grant = false;  ///< the rights of a peer that has a grant
  std::string_view ended{};  ///< why its grant allows nothing; of a rule that is_none()

  bool is_none() const { return number == 0; }
  bool matches(const Peer& peer) const;
  /// From now on it allows only what the lists of `other` allow too.
  void narrow(const PolicyRule& other);
  /// Whether requests, lists and notifications pass without being looked at.
  bool restricts_nothing() const {
    return !is_none() && tools.allows_all() && prompts.allows_all() && resources.allows_all() &&
           methods.allows_all();
  }
};

/// How a policy finds the ids that its file names; nothing: there is none of that name.
struct AccountNames {
  std::function<std::optional<uid_t>(const std::string&)> user;
  std::function<std::optional<gid_t>(const std::string&)> group;
};

/// Who may do what: the rules of a policy's file (BEHAVIOUR, "Policy"). Pure; a value.
class Policy {
 public:
  /// Allows nothing to any peer.
  Policy() = default;

  /// `text`: JSON with comments. Or what is wrong with it, with the line.
  static std::variant<Policy, std::string> read(std::string_view text, const AccountNames& names);

  /// The first rule that matches, or one that is_none(). Valid as long as the policy.
  const PolicyRule& rule_for(const Peer& peer) const;
  std::size_t size() const { return rules_.size(); }
  const std::vector<PolicyRule>& rules() const { return rules_; }

 private:
  std::vector<PolicyRule> rules_;
  PolicyRule none_;
};

/// What the policy says of grants, for --check, in lines; empty: it has no rule. Pure.
std::string explain_grants(const Policy& policy);

/// The file of --policy as it was read. A value.
struct PolicyFile {
  static constexpr std::size_t longest = 1u << 20;  ///< bytes of such a file

  std::string path;
  std::string text;
  Policy policy;
};

/// Reads and checks it, or says what is wrong, with the file's name. It has to belong to root or to
/// the daemon's user, and others must not be able to write it.
std::variant<PolicyFile, std::string> read_policy_file(const std::string& path,
                                                       const AccountNames& names);

}  // namespace bridge
