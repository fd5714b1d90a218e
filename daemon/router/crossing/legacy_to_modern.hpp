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
#include "json/reply.hpp"
#include "mcp/input_required.hpp"

namespace bridge {

/// The result of an elicitation that the user did not answer.
constexpr std::string_view cancelled_by_user = R"({"action":"cancel"})";

/// A legacy caller's call in a modern session. The server may answer it with questions (MCP
/// 2026-07-28, "Multi Round-Trip Requests"; BEHAVIOUR, "Eras: questions to a legacy client"): then
/// it waits at the bridge for their answers, or for a pause if there was no question, then perhaps
/// for a session, and is sent again with the answers. An unanswered elicitation is answered as
/// cancelled by the user; without any other answer the call ends.
///
/// Owned by its Call, changed by Crossings. Pure. Bounds: max_rounds; what it keeps counts against
/// --max-buffered while the call waits.
class LegacyToModern {
 public:
  enum class Waits : std::uint8_t {
    no,  ///< the call is at the server
    for_answers,
    for_pause,
    for_session,
  };
  friend constexpr Waits last_of(Waits) { return Waits::for_session; }

  static constexpr unsigned max_rounds = 16;
  /// Pause before repeating a request after a result without a question; doubled each time.
  static constexpr std::chrono::milliseconds first_pause{100};
  static constexpr std::chrono::milliseconds longest_pause{30000};

  LegacyToModern() = default;
  /// `request`: as its caller wrote it, if the server may answer it with questions.
  explicit LegacyToModern(std::string request) : original_(std::move(request)) {}

  bool may_be_asked() const { return !original_.empty(); }
  bool is_at_server() const { return waits_ == Waits::no; }
  Waits waits() const { return waits_; }
  SteadyTime due() const { return due_; }
  void wait(Waits what, SteadyTime until) {
    waits_ = what;
    due_ = until;
  }
  void back_at_server() {
    waits_ = Waits::no;
    held_.reset();
  }

  /// Reads this result's questions, of which the first may be answered already. Returns them all,
  /// or why the call ends.
  std::variant<std::vector<InputRequest>, Failure> take_questions(
      std::string_view result, const std::vector<std::string>& answers);
  /// The pause after a result without questions.
  std::chrono::milliseconds next_pause();
  /// Takes the answer to a question; `response`: null: none.
  void take_answer(std::size_t index, std::string_view method, const Frame* response);
  /// Why the call ends, by the answers; nullopt: it does not.
  const std::optional<Failure>& failure() const { return failure_; }
  bool has_all_answers() const;
  /// The request for the next round, under this id, or why there is none.
  std::variant<Frame, Failure> next_request(UpstreamId id) const;

  /// Counts what it keeps.
  void hold(ByteBudget& budget);

  // The failure is settled within its turn.
  template <class A>
  void each_field(A& archive) {
    archive(original_, rounds_, pauses_, waits_, answers_, request_state_, due_,
            archive.not_saved(failure_), archive.not_saved(held_));
  }

 private:
  std::string original_;
  unsigned rounds_ = 0;  ///< number of `input_required` results
  unsigned pauses_ = 0;  ///< of those, the last ones without a question
  Waits waits_ = Waits::no;
  std::vector<InputResponse> answers_;  ///< of this round; an empty result: not answered yet
  std::string request_state_;           ///< as JSON; empty: none
  SteadyTime due_{};
  std::optional<Failure> failure_;
  std::unique_ptr<ByteBudget::Share> held_;
};

}  // namespace bridge
