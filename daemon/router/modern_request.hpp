#pragma once

#include <cstdint>
#include <string>

#include "router/declared_answers.hpp"

namespace bridge {

/// What a modern client's request says beside its method (MCP 2026-07-28, basic, "`_meta`").
struct ModernRequest {
  DeclaredAnswers declared;  ///< which questions its client answers
  std::string log_level;     ///< empty: no log messages
  std::uint64_t digest = 0;  ///< request_digest(), of one that can be asked something
  /// The capabilities, as JSON, for want of which the upstream was refused what it asked about it;
  /// empty: it was not.
  std::string undeclared;
  /// It did not say about which of those in flight.
  bool undeclared_by_one_of_several = false;

  template <class A>
  void each_field(A& archive) {
    archive(declared, log_level, digest, undeclared, undeclared_by_one_of_several);
  }
};

/// What is kept of a legacy client's request at a modern upstream that may ask something in its
/// result (MCP 2026-07-28, "Multi Round-Trip Requests").
struct InputRound {
  std::string original;  ///< the request as its client wrote it
  unsigned rounds = 0;   ///< so many times it was answered so
  unsigned pauses = 0;   ///< the last of them, without a question

  template <class A>
  void each_field(A& archive) {
    archive(original, rounds, pauses);
  }
};

}  // namespace bridge
