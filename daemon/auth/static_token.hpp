#pragma once

#include <string>

#include "auth/token_waiters.hpp"

namespace bridge {

/// MCP_SERVER_TOKEN: always the same one, which may be empty. The loop's thread only.
class StaticToken final : public TokenSource {
 public:
  StaticToken(EventLoop& loop, std::string token) : token_(std::move(token)), waiters_(loop) {}

  std::optional<std::string> current() override { return token_; }
  void fetch(Done done) override {
    waiters_.add(std::move(done));
    waiters_.answer(TokenAnswer{token_, std::nullopt});
  }
  bool refused(const std::string&, const TokenChallenge&) override { return false; }
  void reload() override {}
  std::vector<std::string> secrets() const override { return {token_}; }

 private:
  std::string token_;
  TokenWaiters waiters_;
};

}  // namespace bridge
