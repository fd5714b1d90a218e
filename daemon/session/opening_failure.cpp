#include "session/opening_failure.hpp"

#include <fmt/format.h>

#include <utility>

#include "protocol/json_text.hpp"
#include "service/log.hpp"

namespace bridge {

Failure failure_of_opening(Failure failure) {
  failure.opening = true;
  if (failure.error_object.empty()) return failure;
  failure.summary = log_text(failure);
  failure.kind = ErrorKind::session;
  failure.upstream_error = std::exchange(failure.error_object, std::string());
  const auto words = find_string(failure.upstream_error, "message");
  failure.message =
      fmt::format("the upstream refuses to initialize a session{}{}",
                  words && !words->empty() ? ": " : "", printable(words.value_or(std::string())));
  return failure;
}

}  // namespace bridge
