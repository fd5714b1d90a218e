#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/byte_budget.hpp"
#include "base/clock.hpp"
#include "base/ids.hpp"
#include "json/frame.hpp"
#include "mcp/handshake.hpp"
#include "mcp/input_required.hpp"
#include "router/asked_for.hpp"
#include "session/session_events.hpp"

namespace bridge {

/// A modern client's call in a legacy session. If the server asks something about it, the client is
/// answered with an `input_required` result (MCP 2026-07-28, "Multi Round-Trip Requests";
/// BEHAVIOUR, "Eras: questions to a modern client"), and the call is suspended: it stays open
/// upstream without a client until a request of the same user brings the answers and takes it over.
/// Questions within gathering_time of the first are asked in one result.
///
/// A suspended call is identified by a state that cannot be guessed, is valid once, and is bound to
/// the user and the request (request_digest).
///
/// Owned by its Call, changed by Crossings. Pure. Bounds: max_rounds, max_questions waiting and
/// max_messages; what it keeps counts against --max-buffered.
class ModernToLegacy {
 public:
  using End = std::variant<Frame, Ending>;
  enum class Stage : std::uint8_t {
    with_client,  ///< a client waits for the answer
    suspended,
    ended,  ///< suspended, and its end has arrived
  };
  friend constexpr Stage last_of(Stage) { return Stage::ended; }

  static constexpr unsigned max_rounds = 16;
  static constexpr std::size_t max_questions = max_input_requests;
  /// The number of log messages kept while suspended, the newest.
  static constexpr std::size_t max_messages = 64;
  static constexpr std::size_t max_message_bytes = 64u << 10;
  /// A server that asks several things at once sends a message for each.
  static constexpr std::chrono::milliseconds gathering_time{10};

  ModernToLegacy() = default;
  explicit ModernToLegacy(const Frame& request) { take_request(request); }

  // What the client has declared in its request.
  /// The first request, or that of the client that takes the call over.
  void take_request(const Frame& request);
  const DeclaredAnswers& declared() const { return declared_; }
  bool is_of(const Frame& request) const;
  /// A request of the server was refused, because the client has not declared that it answers it.
  /// `by_one_of_several`: it did not say which call it was about.
  void note_undeclared(std::string_view method, AskedFor asked, bool by_one_of_several);
  /// If the call fails, it is because of this, JSON; empty: nothing was refused.
  const std::string& undeclared() const { return undeclared_; }
  bool is_one_of_several() const { return undeclared_by_one_of_several_; }
  /// The refused request was about the other call.
  void clear_undeclared_of(const ModernToLegacy& other);
  /// The response in the form for its client.
  Frame to_client(Frame response, std::string_view method) const;

  // While the server asks.
  Stage stage() const { return stage_; }
  bool is_suspended() const { return stage_ != Stage::with_client; }
  /// Whether it may be suspended once more.
  bool may_ask_again() const { return rounds_ < max_rounds; }
  SteadyTime due() const { return due_; }
  /// Until its first question is asked, or its answers expire.
  void wait(SteadyTime until) { due_ = until; }
  /// Whether questions are, or were, gathered.
  bool was_asked() const { return due_ != SteadyTime{}; }
  /// Returns the state by which a client takes it over.
  const std::string& suspend(SteadyTime until);
  bool has_state(std::string_view state) const { return is_suspended() && state_ == state; }
  /// Keeps a log message. Returns how many were dropped: this one, or older ones.
  std::size_t keep_message(const Frame& message, ByteBudget& budget);
  /// Keeps the call's end for the client that takes it over, or a failure if there is no room.
  void keep_end(End end, ByteBudget& budget);

  struct Kept {
    std::vector<std::string> messages;
    std::optional<End> end;
  };
  /// A client has taken it over. Returns what was kept.
  Kept take_over();
  /// The call is sent again under another id.
  void start_again();

  /// In an upgrade: the end as a response, under this id.
  void save_end(UpstreamId id, ModernToLegacy& saved) const;
  void restore(ByteBudget& budget);

  template <class A>
  void each_field(A& archive) {
    archive(declared_, digest_, undeclared_, undeclared_by_one_of_several_, stage_, state_, rounds_,
            due_, messages_, message_bytes_, archive.not_saved(end_), saved_end_,
            archive.not_saved(held_));
  }

 private:
  void hold(ByteBudget& budget);

  DeclaredAnswers declared_;  ///< the questions that the client answers
  std::uint64_t digest_ = 0;  ///< request_digest(), if the client can be asked something
  std::string undeclared_;    ///< capabilities
  bool undeclared_by_one_of_several_ = false;

  Stage stage_ = Stage::with_client;
  std::string state_;  ///< its requestState
  unsigned rounds_ = 0;
  SteadyTime due_{};
  std::vector<std::string> messages_;  ///< log messages that arrived while no client waited
  std::size_t message_bytes_ = 0;
  std::optional<End> end_;
  std::string saved_end_;  ///< the same as a response
  std::unique_ptr<ByteBudget::Share> held_;
};

}  // namespace bridge
