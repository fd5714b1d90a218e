#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "connection/conversation.hpp"
#include "elicitation/form.hpp"
#include "json/message.hpp"
#include "terminal/console.hpp"

namespace client {

/// The questions of the server that are asked at the terminal, one at a time, in the order they
/// came (MCP 2025-11-25, "Elicitation"); the others wait. An answer goes back over the
/// conversation.
///
/// Owned by the dialogue, as are both that it uses. Bounded by what the daemon keeps open.
class TerminalQuestions {
 public:
  TerminalQuestions(Console& console, Conversation& conversation)
      : console_(console), conversation_(conversation) {}

  /// Whether none is being asked.
  bool empty() const { return questions_.empty(); }
  /// Takes an `elicitation/create`; false if it has no form that can be asked here.
  bool take(const json::Message& request);
  /// The server has cancelled a request; false if that is none of these.
  bool withdraw(const json::Message& cancelled);
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
  Conversation& conversation_;
  std::deque<Question> questions_;  // the first is being asked
  std::string typed_;               // a line that is not complete yet
};

}  // namespace client
