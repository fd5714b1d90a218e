#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bridge {

/// Scopes are words separated by spaces (RFC 6749, section 3.3). Those of `first`, then those of
/// `second` that are not among them.
std::string joined_scopes(const std::string& first, const std::string& second);

/// Whether it is one of them.
bool has_scope(const std::string& scopes, std::string_view one);

std::string scope_of(const std::vector<std::string>& scopes);

/// One challenge of a WWW-Authenticate field.
struct Challenge {
  std::string scheme;                                           ///< in lower case
  std::string token68;                                          ///< instead of parameters
  std::vector<std::pair<std::string, std::string>> parameters;  ///< names in lower case, unquoted

  /// Empty if there is none; of several the first.
  std::string_view parameter(std::string_view name) const;
};

/// RFC 9110, section 11.6.1; fields that were repeated joined by commas. What is not well-formed is
/// skipped up to the next comma. Pure.
std::vector<Challenge> parse_challenges(std::string_view field);

/// The parameter of the first Bearer challenge that has it; empty if none has.
std::string bearer_parameter(const std::vector<Challenge>& challenges, std::string_view name);

/// The same, if it can be sent on; else empty.
std::string bearer_hint(const std::vector<Challenge>& challenges, std::string_view name);

/// The scope that tokens are asked for (MCP 2025-11-25, "Authorization", "Scope Selection Strategy"
/// and "Step-Up Authorization Flow"): the operator's, else what the last 401 has named, else what
/// the server supports; and once a 403 has asked for more, that beside what was had before.
///
/// Pure. Memory: of at most 64 steps the scope that each asked for.
class WantedScope {
 public:
  explicit WantedScope(std::string configured) : configured_(std::move(configured)) {}

  /// `supported`: by the server, as far as it is known.
  std::string text(const std::string& supported) const {
    if (!stepped_.empty()) return stepped_;
    if (!configured_.empty()) return configured_;
    return challenged_.empty() ? supported : challenged_;
  }

  /// What a 401 has named.
  void challenge(std::string scope) { challenged_ = std::move(scope); }

  /// A 403 asks for this, beside `had`. False: that was tried.
  bool step_up(const std::string& asked, const std::string& had) {
    if (tried_.size() >= max_steps || !tried_.insert(asked).second) return false;
    before_ = stepped_;
    // What was had before stays: the session is everybody's, and others need that.
    stepped_ = joined_scopes(asked, had);
    asked_ = asked;
    stepping_ = true;
    return true;
  }
  /// The token that is had is good, but not good enough.
  bool is_stepping() const { return stepping_; }
  void step_made() { stepping_ = false; }
  /// Returns whether there was one. `judged`: the server has refused it; else it may be tried
  /// again.
  bool step_failed(bool judged) {
    if (!std::exchange(stepping_, false)) return false;
    stepped_ = before_;
    if (!judged) tried_.erase(asked_);
    return true;
  }
  /// What a 403 has led to, for another image of the program.
  const std::string& stepped() const { return stepping_ ? before_ : stepped_; }
  void go_on_with(std::string stepped) { stepped_ = std::move(stepped); }
  /// Settings may have changed: each step may be tried again.
  void forgive() { tried_.clear(); }

 private:
  static constexpr std::size_t max_steps = 64;

  std::string configured_;
  std::string challenged_;
  std::string stepped_;  ///< instead of these, since a 403
  std::string before_;   ///< stepped_ before the step under way
  std::string asked_;    ///< by the challenge that led to it
  std::set<std::string> tried_;
  bool stepping_ = false;
};

}  // namespace bridge
