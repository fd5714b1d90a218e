#include <fmt/format.h>

#include <variant>

#include "elicitation/fill.hpp"
#include "verbs/failure.hpp"
#include "verbs/job_reports.hpp"
#include "verbs/wire.hpp"

namespace client {
namespace {

/// MCP 2025-11-25, "Sampling: Error Handling": the user has said no.
constexpr std::string_view user_rejected = R"(,"error":{"code":-1,"message":"User rejected it"})";

/// What is sent, as a member after the job; nothing if there is a reason (which was said) not to.
std::optional<std::string> choose_answer(Console& console, const Options& options,
                                         const CollectedJob& asking,
                                         const std::vector<Argument>& values) {
  const bool is_elicitation = asking.question_method == "elicitation/create";
  if (options.decline || options.cancel) {
    if (!is_elicitation) return std::string(user_rejected);
    return fmt::format(R"(,"result":{{"action":"{}"}})", options.decline ? "decline" : "cancel");
  }
  if (!is_elicitation) {
    if (options.json) console.print(question_json(options.operands[0], asking) + "\n");
    show_question(console, options.operands[0], asking);
    return std::nullopt;
  }
  const auto refuse = [&](const std::string& why) {
    tell_failure(console, options, {"usage", why, ExitCode::usage});
    return std::nullopt;
  };
  const auto object = arguments_as_written(values);
  if (const auto* wrong = std::get_if<WrongArguments>(&object)) {
    return refuse(wrong->problems.front());
  }
  const auto filled = fill_form(asking.question_params, std::get<std::string>(object));
  if (const auto* refusal = std::get_if<FieldRefusal>(&filled)) {
    return refuse(refusal->why);
  }
  return ",\"result\":" + std::get<std::string>(filled);
}

/// One question after the other, until the job asks nothing any more.
ExitCode answer_here(Dialogue& dialogue, const Options& options) {
  const std::string& job = options.operands[0];
  JobWaits waits(dialogue, {std::nullopt, true, false, true});
  waits.add(job);
  const JobEvent event = waits.next();
  switch (event.kind) {
    case JobEvent::Kind::ended:
    case JobEvent::Kind::time_up:
      if (options.json) dialogue.console().print("{}\n");
      return ExitCode::ok;
    case JobEvent::Kind::asks:
      if (options.json) dialogue.console().print(question_json(job, event.collected) + "\n");
      show_question(dialogue.console(), job, event.collected);
      return ExitCode::unfinished;
    case JobEvent::Kind::failed: return report_job_failure(dialogue, event.answer);
    case JobEvent::Kind::stopped: break;
  }
  return dialogue.report(event.answer);
}

}  // namespace

ExitCode answer_job(Dialogue& dialogue, const Options& options,
                    const std::vector<Argument>& values) {
  const std::string& job = options.operands[0];
  Console& console = dialogue.console();
  const Answer looked = dialogue.ask("bridge/collect", job_params(job, ",\"waitMs\":0"));
  const auto found = looked.outcome == Answer::Outcome::result ? read_collected(looked.payload)
                                                               : std::optional<CollectedJob>();
  if (!found) return report_job_failure(dialogue, looked);
  if (found->phase != CollectedJob::Phase::asks) {
    const bool has_ended = found->phase == CollectedJob::Phase::ended;
    return tell_failure(
        console, options,
        {"job", fmt::format("job {} asks nothing: it {}", job, has_ended ? "has ended" : "works"),
         ExitCode::answered_error});
  }
  if (values.empty() && !options.decline && !options.cancel) return answer_here(dialogue, options);
  const auto chosen = choose_answer(console, options, *found, values);
  if (!chosen) return ExitCode::usage;
  const Answer answer =
      dialogue.ask("bridge/answer", answer_params(job, found->question_id, *chosen));
  if (answer.outcome == Answer::Outcome::result && options.json) console.print("{}\n");
  return answer.outcome == Answer::Outcome::result ? ExitCode::ok
                                                   : report_job_failure(dialogue, answer);
}

}  // namespace client
