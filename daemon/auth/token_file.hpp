#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "auth/recent_secrets.hpp"
#include "auth/token_waiters.hpp"
#include "base/secret_file.hpp"

namespace bridge {

/// --token-file: looked at once a second at most, read again when it is another one. A file that
/// has become unreadable is a failure, not a reason to go on with what it held.
/// BEHAVIOUR, "Authorization: token sources". The loop's thread only. Memory: the token.
class TokenFile final : public TokenSource {
 public:
  TokenFile(EventLoop& loop, std::string path);

  std::optional<std::string> current() override;
  void fetch(Done done) override;
  /// True if the file holds another token by now.
  bool refused(const std::string& token, const TokenChallenge& challenge) override;
  void reload() override;
  std::vector<std::string> secrets() const override { return recent_.all(); }

 private:
  void read();
  void look();

  EventLoop& loop_;
  std::string path_;
  std::string token_;  ///< empty: fault_ says why
  std::string fault_;
  std::optional<FileIdentity> identity_;  ///< of what was read; nothing: read it again
  std::chrono::steady_clock::time_point looked_{};
  RecentSecrets recent_;
  TokenWaiters waiters_;
};

}  // namespace bridge
