#include "verbs/failure.hpp"

#include "render/json_error.hpp"
#include "verbs/describe_error.hpp"

namespace client {

ExitCode tell_failure(Console& console, const Options& options, const Failure& failure) {
  if (options.json) {
    JsonError told;
    told.kind = failure.kind;
    told.code = failure.error_code;
    told.delivered = failure.delivered;
    told.message = failure.message;
    told.hint = failure.hint.empty() ? std::string(hint_for(failure.kind)) : failure.hint;
    console.print(to_text(told));
  }
  console.note(failure.message);
  return failure.code;
}

ExitCode tell_error(Console& console, const Options& options, std::string_view error) {
  if (options.json) console.print(to_text(read_daemon_error(error)));
  console.note(describe_daemon_error(error));
  return exit_code_for_error(error);
}

}  // namespace client
