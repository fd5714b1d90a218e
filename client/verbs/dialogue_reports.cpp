// How a request that came to nothing is told.
#include <fmt/format.h>

#include <csignal>

#include "render/json_error.hpp"
#include "verbs/daemon_end.hpp"
#include "verbs/describe_error.hpp"
#include "verbs/dialogue.hpp"
#include "verbs/running_daemon.hpp"

namespace client {

void Dialogue::report_as_json(const Answer& answer) {
  if (!json_) return;
  JsonError error;
  error.delivered = "unknown";
  switch (answer.outcome) {
    case Answer::Outcome::error:
      error = answer.from_daemon ? read_daemon_error(answer.payload) : read_error(answer.payload);
      if (error.hint.empty()) error.hint = hint_of_pages(answer.payload);
      break;
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
      if (answer.outcome != Answer::Outcome::hung_up) break;
      if (const auto why = why_not_started(path_, process_behind(conversation_.descriptor()))) {
        error.delivered = "no";
        error.message = fmt::format("the daemon could not start: {}", *why);
        error.hint = "mcp-nc servers shows what it starts";
      }
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
      console_.note(answer.from_daemon ? describe_daemon_error(answer.payload)
                                       : describe_error(answer.payload));
      console_.prompt(describe_pages(answer.payload));
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
  const pid_t process = process_behind(conversation_.descriptor());
  if (const auto why = why_not_started(path_, process)) {
    console_.note(fmt::format("the daemon could not start: {}", *why));
  } else {
    console_.note("the daemon closed the connection before it answered: " +
                  describe_end(path_, process));
  }
  return ExitCode::unreachable;
}

}  // namespace client
