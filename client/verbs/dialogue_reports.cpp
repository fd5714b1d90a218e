// How a request that came to nothing is told.
#include <fmt/format.h>

#include <csignal>

#include "render/json_error.hpp"
#include "verbs/describe_error.hpp"
#include "verbs/dialogue.hpp"
#include "verbs/named_daemon.hpp"

namespace client {

void Dialogue::report_as_json(const Answer& answer) {
  if (!json_) return;
  JsonError error;
  error.delivered = "unknown";
  switch (answer.outcome) {
    case Answer::Outcome::error: error = read_error(answer.payload); break;
    case Answer::Outcome::refused:
      error = read_error(answer.payload);
      error.kind = "daemon";
      error.delivered = "no";
      break;
    case Answer::Outcome::timed_out:
      error.kind = "timeout";
      error.message = "no answer in time; the request was cancelled";
      break;
    case Answer::Outcome::interrupted:
      error.kind = "interrupted";
      error.message = "interrupted; the request was cancelled";
      break;
    case Answer::Outcome::too_long:
      error.kind = "too_large";
      error.message = "the daemon sent a message that is too long";
      break;
    case Answer::Outcome::hung_up:
    case Answer::Outcome::woken:
    case Answer::Outcome::result:
      error.kind = "daemon";
      error.message = answer.outcome == Answer::Outcome::result
                          ? "the daemon's answer cannot be read"
                          : "the daemon closed the connection before it answered";
      break;
  }
  if (error.hint.empty()) error.hint = hint_for_capability(error.message);
  if (error.hint.empty()) error.hint = hint_;
  if (error.hint.empty()) error.hint = hint_for(error.kind);
  console_.print(to_text(error));
}

ExitCode Dialogue::report(const Answer& answer) {
  report_as_json(answer);
  switch (answer.outcome) {
    case Answer::Outcome::error:
      console_.note(describe_error(answer.payload));
      wants_login_ = error_wants_login(answer.payload);
      return exit_code_for_error(answer.payload);
    case Answer::Outcome::refused:
      console_.note(describe_refused_line(answer.payload));
      return ExitCode::answered_error;
    case Answer::Outcome::timed_out:
      console_.note("no answer in time; the request was cancelled (-w sets the limit)");
      return ExitCode::timed_out;
    case Answer::Outcome::interrupted:
      return interrupt_.take() == SIGTERM ? ExitCode::terminated : ExitCode::interrupted;
    case Answer::Outcome::too_long:
      console_.note(fmt::format("the daemon sent a message of more than {} MiB; gave up",
                                Conversation::longest_line >> 20));
      return ExitCode::unreachable;
    case Answer::Outcome::hung_up:
    case Answer::Outcome::woken:
    case Answer::Outcome::result: break;
  }
  console_.note("the daemon closed the connection before it answered: " + describe_end(path_));
  return ExitCode::unreachable;
}

}  // namespace client
