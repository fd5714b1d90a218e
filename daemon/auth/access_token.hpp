#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "event/event_loop.hpp"
#include "json/reply.hpp"

namespace bridge {

class LoginDesk;

/// When a token is due for replacement, and when it expires. Pure.
struct TokenLife {
  using Time = std::chrono::steady_clock::time_point;

  Time refresh = Time::max();
  Time expires = Time::max();

  /// Counted from the request, since the server counted from some time after that. To be replaced
  /// when 80 % of its life has passed or 30 s remain, whichever is later. A token that seems to
  /// have expired in transit stays valid for another second: long enough to be tried.
  static TokenLife of(Time asked, Time answered, std::optional<std::chrono::seconds> expires_in) {
    TokenLife life;
    if (!expires_in) return life;
    life.expires = std::max(asked + *expires_in, answered + std::chrono::seconds(1));
    const auto length = std::chrono::duration_cast<std::chrono::milliseconds>(life.expires - asked);
    life.refresh = asked + std::max(length * 4 / 5, length - std::chrono::seconds(30));
    return life;
  }

  bool ends() const { return expires != Time::max(); }
  bool is_over(Time now) const { return now >= expires; }
  bool is_refresh_due(Time now) const { return now >= refresh; }

  template <class A>
  void each_field(A& archive) {
    archive(refresh, expires);
  }
};

/// The current bearer token, for the next process after an upgrade, so that it is not fetched
/// again. A value, and a secret: kept in memory only.
struct SavedToken {
  std::string token;  ///< empty: none, but the challenge that the next request needs
  TokenLife life{};
  std::string announced{};  ///< where the upstream announced its metadata
  std::string scope{};      ///< from a step-up after a 403; empty: none

  template <class A>
  void each_field(A& archive) {
    archive(token, life, announced, scope);
  }
};

/// A bearer token, or why there is none.
struct TokenAnswer {
  std::string token;               ///< empty without a failure: none is needed
  std::optional<Failure> failure;  ///< nothing secret in it
};

/// What the upstream said when it refused a token.
struct TokenChallenge {
  int status = 401;              ///< 401 or 403
  std::string www_authenticate;  ///< RFC 9110, section 11.6.1; may be empty
  /// It came directly, not through a proxy, from an address that the whole internet can reach.
  bool is_public = false;
};

/// Where the upstream's bearer token comes from. Owned by the upstream; the loop's thread only.
class TokenSource {
 public:
  using Done = std::function<void(const TokenAnswer&)>;

  virtual ~TokenSource() = default;

  /// The token to use now, if there is one; called before every message, so it is cheap. An empty
  /// token means: no Authorization header. nullopt: call fetch() first.
  virtual std::optional<std::string> current() = 0;

  /// Gets a token. `done` is called once, from the loop and never from within this call; a caller
  /// that asks while a fetch is under way joins it.
  virtual void fetch(Done done) = 0;

  /// The upstream has refused `token`. Returns whether a fetch can give another one. Detecting a
  /// second refusal of the same request is up to the caller.
  virtual bool refused(const std::string& token, const TokenChallenge& challenge) = 0;

  /// SIGHUP: drops what is cached of files and commands.
  virtual void reload() = 0;

  /// The current token, for the next process; nullopt if there is none, or that process has it too.
  virtual std::optional<SavedToken> save() const { return std::nullopt; }
  /// REQUIRES: no token was requested yet.
  virtual void restore(const SavedToken& saved) { static_cast<void>(saved); }

  /// Every secret that it holds, to be redacted from output.
  virtual std::vector<std::string> secrets() const = 0;

  /// For a source that a person logs in to; null for the others.
  virtual LoginDesk* login() { return nullptr; }
};

/// The callers waiting for a token. They are called at the end of the turn, never from within a
/// call here, and not after destruction; the last of them may destroy it.
///
/// The loop's thread only; a part of a TokenSource. Memory: the waiters, and the answers that are
/// not delivered yet.
class TokenWaiters {
 public:
  explicit TokenWaiters(EventLoop& loop);

  void add(TokenSource::Done done) { waiting_.push_back(std::move(done)); }
  bool empty() const { return waiting_.empty(); }

  /// Answers all current waiters.
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

/// Back-off for retries: 1 s after the first failure, then twice as long each time, up to 30 s.
/// Pure: the time is an argument.
class FetchPace {
 public:
  using Time = std::chrono::steady_clock::time_point;

  bool may_try(Time now) const { return now >= next_; }
  void failed(Time now) {
    delay_ = delay_.count() == 0 ? first : std::min(delay_ * 2, longest);
    next_ = now + delay_;
  }
  void succeeded() {
    delay_ = std::chrono::seconds(0);
    next_ = Time{};
  }

 private:
  static constexpr std::chrono::seconds first{1};
  static constexpr std::chrono::seconds longest{30};
  std::chrono::seconds delay_{0};
  Time next_{};
};

/// One token fetch shared by all waiters, at a limited rate: during the back-off after a failure a
/// caller gets the last failure at once; a token that is refused as soon as it was fetched is
/// fetched again at most once a second.
/// BEHAVIOUR, "Authorization: token sources".
///
/// The loop's thread only; a part of a TokenSource. Memory: the waiters, and the last failure.
class SharedFetch {
 public:
  /// `begin` starts the work, which ends with a call of finish(), possibly from within `begin`.
  SharedFetch(EventLoop& loop, std::function<void()> begin);

  void join(TokenSource::Done done);
  /// Delivers an existing token; a fetch that is under way is still waited for.
  void give(TokenSource::Done done, const std::string& token);
  /// Starts a fetch without a waiter, unless the back-off forbids it.
  void start_ahead();
  bool is_running() const { return running_; }

  /// The next fetch is caused by a refusal of the upstream.
  void token_refused() { because_refused_ = true; }
  /// Also if none is running: then it answers those that wait for the next, which is not started.
  void finish(const TokenAnswer& answer);
  /// Resets the back-off: the settings have changed.
  void forgive() { pace_.succeeded(); }

 private:
  void start();

  EventLoop& loop_;
  std::function<void()> begin_;
  TokenWaiters waiters_;
  FetchPace pace_;
  TokenAnswer last_failure_;
  DeadlineTimer later_;
  SteadyTime next_after_refusal_{};
  bool because_refused_ = false;
  bool running_ = false;
};

/// The bearer token that everything sent to one upstream carries (RFC 6750; MCP 2025-11-25,
/// "Authorization", "Access Token Usage"; BEHAVIOUR, "Authorization"), and a shared fetch of the
/// next one.
///
/// The loop's thread only. Owned by the upstream's transport; its transfers share it by reference.
/// Memory: the token, and the waiters' callbacks. Only with() may call back before it returns; no
/// callback after destruction.
class AccessToken {
 public:
  /// Called with the reason why there is no token, or nullopt.
  using Ready = std::function<void(const std::optional<Failure>&)>;

  /// `arrived` is called after each fetch, before the waiters.
  AccessToken(std::unique_ptr<TokenSource> source, Ready arrived)
      : source_(std::move(source)), arrived_(std::move(arrived)) {}
  AccessToken(const AccessToken&) = delete;
  AccessToken& operator=(const AccessToken&) = delete;

  /// Whether there is a token, or none is needed; text() is then the current one. Called before
  /// every message.
  bool is_there();
  /// Empty: no Authorization header.
  const std::string& text() const { return text_; }
  /// Grows with each change: tells whether a refusal concerns the current token.
  int generation() const { return generation_; }

  /// Joins the fetch under way, or starts one.
  void fetch();
  /// Calls `ready`, at once or from the loop, when there is a token or fetching it has failed.
  void with(Ready ready);
  /// The upstream has refused the token of this generation. Returns whether the request may be sent
  /// again with another one, which is fetched if it is not there yet.
  bool refused(int generation, const TokenChallenge& challenge);
  /// SIGHUP.
  void reload() { source_->reload(); }
  /// Null if no person can log in.
  LoginDesk* login() const { return source_->login(); }

  std::optional<SavedToken> save() const { return source_->save(); }
  void restore(const SavedToken& saved) { source_->restore(saved); }

  /// Every secret that the upstream may repeat in a response.
  std::vector<std::string> secrets() const;
  /// How often the token was replaced; how often there was none that the upstream accepts.
  std::uint64_t refreshes() const {
    return generation_ > 1 ? static_cast<unsigned>(generation_ - 1) : 0;
  }
  std::uint64_t failures() const { return failures_; }
  /// The upstream has refused the current token, and there is no other.
  void note_failure() { ++failures_; }

 private:
  void use(const std::string& token);
  void answered(const TokenAnswer& answer);

  std::unique_ptr<TokenSource> source_;
  Ready arrived_;
  std::vector<Ready> waiting_;
  bool fetching_ = false;
  std::string text_;
  int generation_ = 0;
  std::uint64_t failures_ = 0;
};

}  // namespace bridge
