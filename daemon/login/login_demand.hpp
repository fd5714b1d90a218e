#pragma once

#include <string>

#include "auth/challenge.hpp"
#include "auth/scope.hpp"
#include "auth/token_source.hpp"
#include "auth/wanted_scope.hpp"
#include "text/header_text.hpp"

namespace bridge {

/// What the upstream's refusals have said of the login that it wants (RFC 6750, section 3; RFC
/// 9728, section 5.1; MCP 2025-11-25, "Authorization", "Scope Challenge Handling").
///
/// Pure; a part of LoginToken. Memory: texts of bounded length.
class LoginDemand {
 public:
  explicit LoginDemand(std::string configured_scope) : scope_(std::move(configured_scope)) {}

  void take(const TokenChallenge& challenge) {
    const std::vector<Challenge> challenges = parse_challenges(challenge.www_authenticate);
    was_refused_ = true;
    if (const std::string place = bearer_hint(challenges, "resource_metadata"); !place.empty())
      announced_ = place;
    const std::string scope = bearer_hint(challenges, "scope");
    is_public_ = is_public_ || challenge.is_public;
    if (challenge.status != 403) {
      if (!scope.empty()) scope_.challenge(scope);
    } else if (bearer_parameter(challenges, "error") == "insufficient_scope" && !scope.empty()) {
      // Only a person can grant more (RFC 6749, section 6: a refresh gives no more than there was).
      const std::string all = joined_scopes(step_up_, scope);
      step_up_ = all.size() <= header_limit::scope ? all : scope;
    }
  }
  /// There is a login, or is to be none: the next one asks for no more than usual.
  void forget_step_up() { step_up_.clear(); }

  /// There is something to go by.
  bool was_refused() const { return was_refused_; }
  const WantedScope& scope() const { return scope_; }
  /// By the last 403s, of which the last one counts where all are too much; empty: nothing.
  const std::string& step_up() const { return step_up_; }
  /// Where the last challenge says that the resource's metadata are; may be empty.
  const std::string& announced() const { return announced_; }
  /// The upstream was once seen at an address that the whole internet can reach: that it has
  /// another one at another time makes what it names no better.
  bool is_public() const { return is_public_; }

 private:
  WantedScope scope_;
  std::string step_up_;
  std::string announced_;
  bool was_refused_ = false;
  bool is_public_ = false;
};

}  // namespace bridge
