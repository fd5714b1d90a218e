#include "control/supervisor.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace bridge;
using State = Session::State;

TEST_CASE("every state of the session has words of its own that name the upstream") {
  std::set<std::string> all;
  for (const State state : {State::idle, State::opening, State::open, State::reopening,
                            State::waiting, State::refused}) {
    const std::string words = describe_state(state, "https://example.com/mcp", std::nullopt);
    CAPTURE(words);
    CHECK(words.find("https://example.com/mcp") != words.npos);
    CHECK(words.find('\n') == words.npos);
    all.insert(words);
  }
  CHECK(all.size() == 6);
}

TEST_CASE("why the upstream is away is said while it is away, and not afterwards") {
  const Failure failure = failure_of(ErrorKind::connect, Delivered::no, "connection refused");
  const auto says_why = [&](State state) {
    return describe_state(state, "there", failure).find("connection refused") != std::string::npos;
  };
  CHECK(says_why(State::waiting));
  CHECK(says_why(State::refused));
  CHECK_FALSE(says_why(State::open));
  CHECK_FALSE(says_why(State::idle));
}
