#include <algorithm>

#include "verbs/failure.hpp"
#include "verbs/job_reports.hpp"
#include "verbs/job_waits.hpp"

namespace client {
namespace {

/// The waiting has ended; the jobs have not.
ExitCode report_stop(Dialogue& dialogue, const Options& options, const Answer& answer) {
  if (answer.outcome != Answer::Outcome::timed_out) return dialogue.report(answer);
  return tell_failure(
      dialogue.console(), options,
      {"timeout", "time is up (-w); what was waited for goes on", ExitCode::timed_out, "unknown"});
}

ExitCode report_event(Dialogue& dialogue, const Options& options, const JobEvent& event,
                      bool several) {
  switch (event.kind) {
    case JobEvent::Kind::ended: return present_end(dialogue, options, event, several);
    case JobEvent::Kind::asks:
      if (options.json) dialogue.console().print(question_json(event.job, event.collected) + "\n");
      show_question(dialogue.console(), event.job, event.collected);
      return ExitCode::unfinished;
    case JobEvent::Kind::failed: return report_job_failure(dialogue, event.answer);
    case JobEvent::Kind::time_up:
    case JobEvent::Kind::stopped: break;
  }
  return report_stop(dialogue, options, event.answer);
}

}  // namespace

ExitCode wait_for_jobs(Dialogue& dialogue, const Options& options) {
  const bool several = options.operands.size() > 1;
  JobWaits waits(dialogue, {std::nullopt, true, several, false, true});
  for (const std::string& job : options.operands) waits.add(job);
  ExitCode worst = ExitCode::ok;
  while (!waits.empty() && dialogue.console().output_state() == Sink::Result::ok) {
    const JobEvent event = waits.next();
    const ExitCode code = report_event(dialogue, options, event, several);
    if (event.kind == JobEvent::Kind::stopped || options.any) return code;
    worst = std::max(worst, code);
  }
  return worst;
}

}  // namespace client
