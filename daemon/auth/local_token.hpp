#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "auth/access_token.hpp"
#include "auth/recent_secrets.hpp"
#include "base/watched_token.hpp"
#include "process/command_run.hpp"

namespace bridge {

class Log;

/// MCP_SERVER_TOKEN: a fixed token, possibly empty. The loop's thread only.
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

/// --token-file. No token while the file cannot be used.
/// BEHAVIOUR, "Authorization: token sources". The loop's thread only. Memory: the token.
class TokenFile final : public TokenSource {
 public:
  TokenFile(EventLoop& loop, std::string path);

  std::optional<std::string> current() override;
  void fetch(Done done) override;
  /// True if the file now holds another token.
  bool refused(const std::string& token, const TokenChallenge& challenge) override;
  void reload() override;
  std::vector<std::string> secrets() const override { return recent_.all(); }

 private:
  EventLoop& loop_;
  WatchedToken file_;
  RecentSecrets recent_;
  TokenWaiters waiters_;
};

/// --token-command: its output is the token, until that is refused or --token-ttl has passed. Its
/// stderr is logged after it has ended, since only then the token to redact is known.
/// BEHAVIOUR, "Authorization: token sources". The loop's thread only. Bounds of time and output:
/// CommandLimits.
class TokenCommand final : public TokenSource {
 public:
  /// A `ttl` of 0 means none.
  TokenCommand(EventLoop& loop, std::string command, std::optional<std::chrono::milliseconds> ttl,
               Log& log, CommandLimits limits = {});

  std::optional<std::string> current() override;
  void fetch(Done done) override;
  bool refused(const std::string& token, const TokenChallenge& challenge) override;
  void reload() override;
  std::optional<SavedToken> save() const override;
  void restore(const SavedToken& saved) override;
  std::vector<std::string> secrets() const override { return recent_.all(); }

 private:
  void ended(const CommandOutput& output);
  void log_errors(const CommandOutput& output);

  EventLoop& loop_;
  std::string command_;
  std::optional<std::chrono::milliseconds> ttl_;
  Log& log_;
  CommandLimits limits_;
  std::optional<std::string> token_;
  SteadyTime expires_{};
  RecentSecrets recent_;
  SharedFetch shared_;
  std::unique_ptr<CommandRun> run_;
};

}  // namespace bridge
