#pragma once

#include <deque>
#include <functional>
#include <utility>

#include "connection/typed_line.hpp"
#include "elicitation/form.hpp"
#include "terminal/console.hpp"

namespace client {

/// The questions of the server that are asked at the terminal, one at a time, in the order they
/// came (MCP 2025-11-25, "Elicitation"); the others wait.
///
/// Owned by the dialogue; the console is the verb's. Bounded by what the daemon keeps open.
class TerminalQuestions {
 public:
  /// Takes a form that is done, and the id it was asked under.
  using Deliver = std::function<void(const std::string& id, const ElicitationForm& form)>;

  TerminalQuestions(Console& console, Deliver deliver)
      : console_(console), deliver_(std::move(deliver)) {}

  /// Whether none is being asked.
  bool empty() const { return questions_.empty(); }
  void ask(std::string id, ElicitationForm form);
  /// The server has cancelled a request; false if that is none of these.
  bool withdraw(const json::Message& cancelled);
  /// Ends them all; gives the ids they were asked under.
  std::vector<std::string> dismiss();
  /// Reads what was typed at the terminal, which gives whole lines. REQUIRES: not empty().
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
