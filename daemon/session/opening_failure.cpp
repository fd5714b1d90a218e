#include "session/opening_failure.hpp"

#include <utility>

namespace bridge {

Failure failure_of_opening(Failure failure) {
  failure.opening = true;
  if (failure.error_object.empty()) return failure;
  failure.summary = log_text(failure);
  failure.kind = ErrorKind::session;
  failure.upstream_error = std::exchange(failure.error_object, std::string());
  failure.message = "the upstream refuses to initialize a session";
  return failure;
}

}  // namespace bridge
