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

#include "auth/login.hpp"
#include "event/event_loop.hpp"
#include "json/reply.hpp"

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

  bool ends() const { return expires != Time::max(); }
  bool is_over(Time now) const { return now >= expires; }
  bool is_refresh_due(Time now) const { return now >= refresh; }

  template <class A>
  void each_field(A& archive) {
    archive(refresh, expires);
  }
};

/// The bearer token in hand, for the next process after an upgrade: it is not fetched again. A
/// value, and a secret: it goes through memory only.
struct SavedToken {
  std::string token;  ///< empty: there is none, but what is to be asked for
  TokenLife life{};
  std::string announced{};  ///< where the upstream has said that its metadata are
  std::string scope{};      ///< that a 403 has led to; empty: none has

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

  /// The token in hand, for the next process; none: it is at hand there as well, or there is none.
  virtual std::optional<SavedToken> save() const { return std::nullopt; }
  /// REQUIRES: nothing was asked yet.
  virtual void restore(const SavedToken& saved) { static_cast<void>(saved); }

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

/// How soon something that fails may be tried again: after 1 s, then twice as long each time, up to
/// 30 s. Pure: the time is given.
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

/// One fetch of a token for all who wait, and not too many of them: while a failing one may not be
/// repeated yet, who asks gets the last failure at once; a token that is refused as soon as it is
/// there is fetched anew once a second at most.
/// BEHAVIOUR, "Authorization: token sources".
///
/// The loop's thread only; a part of a TokenSource. Memory: who waits, and the last failure.
class SharedFetch {
 public:
  /// `begin` starts the work, which ends by a call of finish(), be it at once.
  SharedFetch(EventLoop& loop, std::function<void()> begin);

  void join(TokenSource::Done done);
  /// There is a token already; a fetch that is under way is waited for all the same.
  void give(TokenSource::Done done, const std::string& token);
  /// Starts one that nobody waits for, if it may be.
  void start_ahead();
  bool is_running() const { return running_; }

  /// The next fetch is because the upstream has refused a token.
  void token_refused() { because_refused_ = true; }
  void finish(const TokenAnswer& answer);
  /// What has failed is forgotten: somebody has changed the settings.
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

/// The bearer token that everything sent to one upstream carries now (RFC 6750; MCP 2025-11-25,
/// "Authorization", "Access Token Usage"; BEHAVIOUR, "Authorization"), and one fetch of another for
/// all who wait.
///
/// The loop's thread only. Owned by the upstream's transport; its transfers share it by reference.
/// Memory: the token, and what those who wait have to do. Nobody is called from within a call here,
/// but by with(); nobody after destruction.
class AccessToken {
 public:
  /// With why there is no token, or nothing.
  using Ready = std::function<void(const std::optional<Failure>&)>;

  /// `arrived` is called first after each fetch.
  AccessToken(std::unique_ptr<TokenSource> source, Ready arrived)
      : source_(std::move(source)), arrived_(std::move(arrived)) {}
  AccessToken(const AccessToken&) = delete;
  AccessToken& operator=(const AccessToken&) = delete;

  /// Whether there is one, or none is needed; that of now is then text(). Asked before every
  /// message.
  bool is_there();
  /// Empty: no Authorization header.
  const std::string& text() const { return text_; }
  /// Grows with each change: tells whether a refusal is of the one in use now.
  int generation() const { return generation_; }

  /// Joins the fetch under way, or starts one.
  void fetch();
  /// Calls `ready`, at once or from the loop, when there is one or it is known why there is none.
  void with(Ready ready);
  /// The upstream has refused the one of this generation. Returns whether it is worth asking again
  /// with another one, which is fetched if it is not there.
  bool refused(int generation, const TokenChallenge& challenge);
  /// SIGHUP.
  void reload() { source_->reload(); }
  /// Null if no person can log in.
  Login* login() const { return source_->login(); }

  std::optional<SavedToken> save() const { return source_->save(); }
  void restore(const SavedToken& saved) { source_->restore(saved); }

  /// Every secret that may be in what the upstream says.
  std::vector<std::string> secrets() const;
  /// How often another one came into use; how often there was none that the upstream accepts.
  std::uint64_t refreshes() const {
    return generation_ > 1 ? static_cast<unsigned>(generation_ - 1) : 0;
  }
  std::uint64_t failures() const { return failures_; }
  /// The upstream has refused the one there is, and no other can be had.
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
