#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "auth/recent_secrets.hpp"
#include "auth/shared_fetch.hpp"
#include "process/command_run.hpp"

namespace bridge {

class Log;

/// --token-command: what it prints is the token, until that is refused or --token-ttl has passed.
/// Its stderr goes to the log when it has ended, since only then the token to redact is known.
/// BEHAVIOUR, "Authorization: token sources". The loop's thread only. Bounds of time and of output:
/// CommandLimits.
class TokenCommand final : public TokenSource {
 public:
  /// A `ttl` of 0 is none.
  TokenCommand(EventLoop& loop, std::string command, std::optional<std::chrono::milliseconds> ttl,
               Log& log, CommandLimits limits = {});

  std::optional<std::string> current() override;
  void fetch(Done done) override;
  bool refused(const std::string& token, const TokenChallenge& challenge) override;
  void reload() override;
  std::optional<KeptToken> to_keep() const override;
  void go_on_with(const KeptToken& kept) override;
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
