#include "control/readiness.hpp"

#include <fmt/format.h>

namespace bridge {

std::string describe_state(Session::State state, std::string_view target,
                           const std::optional<Failure>& failure) {
  const std::string why = failure ? ": " + failure->message : std::string();
  switch (state) {
    case Session::State::idle: return fmt::format("No session with {}, none is needed", target);
    case Session::State::opening: return fmt::format("Opening a session with {}", target);
    case Session::State::open: return fmt::format("In session with {}", target);
    case Session::State::reopening:
      return fmt::format("Opening the lost session with {} again", target);
    case Session::State::waiting:
      return fmt::format("Cannot reach {}, trying again{}", target, why);
    case Session::State::refused: return fmt::format("Refused by {}{}", target, why);
  }
  return {};
}

}  // namespace bridge
