#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "auth/token_source.hpp"

namespace bridge {

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

  /// For another image of the program.
  std::optional<KeptToken> to_keep() const { return source_->to_keep(); }
  void go_on_with(const KeptToken& kept) { source_->go_on_with(kept); }

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
