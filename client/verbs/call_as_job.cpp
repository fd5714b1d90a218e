#include <fmt/format.h>

#include "json/scan.hpp"
#include "terminal/visible.hpp"
#include "verbs/job_reports.hpp"
#include "verbs/job_waits.hpp"
#include "verbs/wire.hpp"

namespace client {
namespace {

/// What was ended before it was detached is cancelled, as any call is.
void cancel(Dialogue& dialogue, const std::string& job) {
  const std::string id = dialogue.send("bridge/cancel", job_params(job));
  dialogue.await({id}, Deadline::after(farewell));
}

/// The daemon has not said yet which job it is: it may have begun.
void cancel_submitted(Dialogue& dialogue, const std::string& submit_id) {
  const Answer late = dialogue.await({submit_id}, Deadline::after(farewell));
  if (late.outcome != Answer::Outcome::result) return;
  if (const auto job = read_submitted(late.payload)) cancel(dialogue, job->id);
}

ExitCode tell_forgotten(Console& console, const SubmittedJob& job) {
  console.note(
      fmt::format("the call of this key was made before and is {}: nothing was called, and its "
                  "result is not kept any more",
                  job.state));
  return job.state == "completed" ? ExitCode::ok : ExitCode::answered_error;
}

/// Only a daemon with a state directory was to save it.
void warn_unless_saved(Dialogue& dialogue, const SubmittedJob& job) {
  if (job.durable || job.forgotten) return;
  const std::string id = dialogue.send("bridge/status", "{}");
  const Answer answer = dialogue.await({id}, dialogue.deadline());
  if (answer.outcome != Answer::Outcome::result) return;
  const auto state = json::member(answer.payload, "state");
  if (!state || json::member(*state, "durable") != std::optional<std::string_view>("false")) return;
  dialogue.console().note(
      fmt::format("the job is not saved: {}; its result is lost if the daemon ends",
                  make_visible_line(json::string_member(*state, "error"))));
}

/// A result goes to nobody else, unless the key's next call asks for it.
ExitCode wait_for_result(Dialogue& dialogue, const Options& options, const std::string& job) {
  using Kind = JobEvent::Kind;
  Console& console = dialogue.console();
  JobWaits waits(dialogue, {options.detach_after, !options.key.empty(), false, false});
  waits.add(job);
  const JobEvent event = waits.next();
  switch (event.kind) {
    case Kind::ended: return present_end(dialogue, options, event, false);
    case Kind::failed: return report_job_failure(dialogue, event.answer);
    case Kind::asks: show_question(console, job, event.collected); break;
    case Kind::time_up:
      console.note(fmt::format("the call goes on; its result: mcp-nc wait {}", job));
      break;
    case Kind::stopped:
      if (event.answer.outcome == Answer::Outcome::interrupted ||
          event.answer.outcome == Answer::Outcome::timed_out) {
        cancel(dialogue, job);
      } else {
        console.note(fmt::format("the call was job {}", job));
      }
      return dialogue.report(event.answer);
  }
  console.print((options.json ? job_params(job) : make_visible_line(job)) + "\n");
  return ExitCode::unfinished;
}

}  // namespace

bool is_job(const Options& options) {
  return options.verb == Verb::call &&
         (options.detach || options.detach_after || !options.key.empty());
}

ExitCode call_as_job(Dialogue& dialogue, const Options& options, const std::string& params) {
  const std::string id = dialogue.send("bridge/submit", submit_params(params, options.key));
  const Answer answer = dialogue.await({id}, dialogue.deadline());
  if (answer.outcome == Answer::Outcome::interrupted ||
      answer.outcome == Answer::Outcome::timed_out) {
    cancel_submitted(dialogue, id);
  }
  if (answer.outcome != Answer::Outcome::result) return report_job_failure(dialogue, answer);
  const auto job = read_submitted(answer.payload);
  if (!job) return report_job_failure(dialogue, answer);
  Console& console = dialogue.console();
  warn_unless_saved(dialogue, *job);
  if (options.detach) {
    console.print(options.json ? answer.payload + "\n" : make_visible_line(job->id) + "\n");
    return job->forgotten ? tell_forgotten(console, *job) : ExitCode::ok;
  }
  if (job->forgotten) {
    if (options.json) console.print(answer.payload + "\n");
    return tell_forgotten(console, *job);
  }
  return wait_for_result(dialogue, options, job->id);
}

}  // namespace client
