#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "auth/kept_token.hpp"
#include "auth/login.hpp"
#include "base/failure.hpp"

namespace bridge {

/// A bearer token, or why there is none.
struct TokenAnswer {
  std::string token;               ///< empty without a failure: none is needed
  std::optional<Failure> failure;  ///< nothing secret in it
};

/// What a refusal of the upstream said.
struct TokenChallenge {
  int status = 401;              ///< 401 or 403
  std::string www_authenticate;  ///< RFC 9110, section 11.6.1; may be empty
  /// It came from an address that the whole internet can reach, not through a proxy.
  bool is_public = false;
};

/// Where the upstream's bearer token comes from. Owned by the upstream; the loop's thread only.
class TokenSource {
 public:
  using Done = std::function<void(const TokenAnswer&)>;

  virtual ~TokenSource() = default;

  /// The token to use now, if one is at hand; asked before every message, so it is cheap. An empty
  /// one means: no Authorization header. Nothing: fetch() first.
  virtual std::optional<std::string> current() = 0;

  /// Gets a token. `done` is called once, from the loop and never from within this call; who asks
  /// while a fetch is under way joins it.
  virtual void fetch(Done done) = 0;

  /// The upstream has refused `token`. Returns whether a fetch can give another one; that it is the
  /// same request's second refusal is for the caller to know.
  virtual bool refused(const std::string& token, const TokenChallenge& challenge) = 0;

  /// SIGHUP: forget what is cached of files and commands.
  virtual void reload() = 0;

  /// The token in hand, for another image of the program; none: it is at hand there as well, or
  /// there is none.
  virtual std::optional<KeptToken> to_keep() const { return std::nullopt; }
  /// Goes on with that. REQUIRES: nothing was asked yet.
  virtual void go_on_with(const KeptToken& kept) { static_cast<void>(kept); }

  /// Every secret it holds, for redacting them in what is shown.
  virtual std::vector<std::string> secrets() const = 0;

  /// For a source that a person logs in to; null for the others.
  virtual Login* login() { return nullptr; }
};

}  // namespace bridge
