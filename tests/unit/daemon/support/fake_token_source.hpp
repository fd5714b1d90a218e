#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "auth/access_token.hpp"

namespace bridge {

/// A source whose token, and whose responses to a fetch, are set by the test.
class FakeTokenSource final : public TokenSource {
 public:
  std::optional<std::string> current() override { return token; }
  void fetch(Done done) override { asked.push_back(std::move(done)); }
  bool refused(const std::string& refused, const TokenChallenge& challenge) override {
    refusals.emplace_back(refused, challenge.status);
    if (can_renew) token.reset();
    return can_renew;
  }
  void reload() override {}
  std::vector<std::string> secrets() const override { return {}; }

  /// Ends the oldest fetch with this answer.
  void answer(const TokenAnswer& answer) {
    const Done done = std::move(asked.front());
    asked.erase(asked.begin());
    done(answer);
  }

  std::optional<std::string> token;
  bool can_renew = true;
  std::vector<Done> asked;
  std::vector<std::pair<std::string, int>> refusals;
};

}  // namespace bridge
