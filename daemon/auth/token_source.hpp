#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "auth/kept_token.hpp"
#include "auth/login.hpp"
#include "event/event_loop.hpp"
#include "json/failure.hpp"

namespace bridge {

/// From when on a token is to be replaced, and from when on it is of no use. Pure.
struct TokenLife {
  using Time = std::chrono::steady_clock::time_point;

  Time refresh = Time::max();
  Time expires = Time::max();

  /// Counted from when it was asked for, since the server counted from some time after that. It is
  /// replaced when 80 % of its life are over or 30 s remain, whichever comes later. One that seems
  /// to have expired on its way still counts for a second: long enough to be tried.
  static TokenLife of(Time asked, Time answered, std::optional<std::chrono::seconds> expires_in) {
    TokenLife life;
    if (!expires_in) return life;
    life.expires = std::max(asked + *expires_in, answered + std::chrono::seconds(1));
    const auto length = std::chrono::duration_cast<std::chrono::milliseconds>(life.expires - asked);
    life.refresh = asked + std::max(length * 4 / 5, length - std::chrono::seconds(30));
    return life;
  }

  bool is_over(Time now) const { return now >= expires; }
  bool is_refresh_due(Time now) const { return now >= refresh; }
};

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

/// Who waits for a token. They are called at the end of the turn, never from within a call here,
/// and not at all once this is destroyed; the last of them may destroy it.
///
/// The loop's thread only; a part of a TokenSource. Memory: who waits, and of who is to be told the
/// answer.
class TokenWaiters {
 public:
  explicit TokenWaiters(EventLoop& loop);

  void add(TokenSource::Done done) { waiting_.push_back(std::move(done)); }
  bool empty() const { return waiting_.empty(); }

  /// Answers all who wait now.
  void answer(const TokenAnswer& answer);

 private:
  struct Answered {
    TokenSource::Done done;
    TokenAnswer answer;
  };

  void tell();

  std::vector<TokenSource::Done> waiting_;
  std::deque<Answered> answered_;
  Deferred tell_;
  std::shared_ptr<int> alive_;
};

/// A failure before anything was sent to the upstream.
TokenAnswer no_token(std::string message);

}  // namespace bridge
