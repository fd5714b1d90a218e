#pragma once

#include <deque>
#include <functional>
#include <utility>

#include "connection/typed_line.hpp"
#include "elicitation/form.hpp"
#include "terminal/console.hpp"

namespace client {

/// The questions of the server that are asked at the terminal, one at a time, in order of arrival
/// (MCP 2025-11-25, "Elicitation"); the others wait.
///
/// Owned by the dialogue; the console is the verb's. Bounded by the daemon's limit.
class TerminalQuestions {
 public:
  /// Takes a completed form, and the id it was asked under.
  using Deliver = std::function<void(const std::string& id, const ElicitationForm& form)>;

  TerminalQuestions(Console& console, Deliver deliver)
      : console_(console), deliver_(std::move(deliver)) {}

  /// Whether no question is being asked.
  bool empty() const { return questions_.empty(); }
  void ask(std::string id, ElicitationForm form);
  /// The server has cancelled a request; false if it is none of these questions.
  bool withdraw(const json::Message& cancelled);
  /// Ends all of them; returns their ids.
  std::vector<std::string> dismiss();
  /// Reads what was typed at the terminal, which provides whole lines. REQUIRES: not empty().
  void take_typed();

 private:
  struct Question {
    std::string id;
    ElicitationForm form;
  };

  void show();
  void answer_if_done();

  Console& console_;
  Deliver deliver_;
  std::deque<Question> questions_;  // the first is being asked
  InputLines lines_;
};

}  // namespace client
