#include "verbs/job_reports.hpp"

#include <fmt/format.h>

#include "elicitation/form.hpp"
#include "json/scan.hpp"
#include "json/text.hpp"
#include "render/content.hpp"
#include "render/json_error.hpp"
#include "verbs/describe_error.hpp"
#include "verbs/present.hpp"

namespace client {
namespace {

constexpr std::string_view unknown_method = "-32601";

/// With --json; of several jobs each says which it is.
void print_error_of(const std::string& job, const JsonError& error, const Options& options,
                    bool several, Console& console) {
  if (!options.json) return;
  const std::string text = to_text(error);
  console.print(several ? fmt::format("{{\"job\":{},{}", json::quote(job), text.substr(1)) : text);
}

}  // namespace

ExitCode report_job_failure(Dialogue& dialogue, const Answer& answer) {
  Console& console = dialogue.console();
  const bool is_answered =
      answer.outcome == Answer::Outcome::result || answer.outcome == Answer::Outcome::error;
  if (is_answered) dialogue.report_as_json(answer);
  if (answer.outcome == Answer::Outcome::result) {
    console.note("the daemon's answer about the job cannot be read: " + answer.payload);
    return ExitCode::answered_error;
  }
  if (answer.outcome != Answer::Outcome::error) return dialogue.report(answer);
  if (json::member(answer.payload, "code") == std::optional(unknown_method)) {
    console.note(
        "this daemon keeps no jobs: it is older than this mcp-nc (mcp-nc status shows its version; "
        "update it and start it again), or it runs with --no-control. A plain mcp-nc call works");
    return ExitCode::answered_error;
  }
  console.note(describe_daemon_error(answer.payload));
  return exit_code_for_error(answer.payload);
}

ExitCode present_end(Dialogue& dialogue, const Options& options, const JobEvent& event,
                     bool several) {
  Console& console = dialogue.console();
  const std::string about = several ? fmt::format("job {}: ", event.job) : std::string();
  const CollectedJob& job = event.collected;
  if (!job.error.empty()) {
    JsonError told = read_error(job.error);
    if (told.hint.empty()) told.hint = hint_of_pages(job.error);
    print_error_of(event.job, told, options, several, console);
    console.note(about + describe_error(job.error));
    console.prompt(describe_pages(job.error));
    return exit_code_for_error(job.error);
  }
  if (job.result.empty()) {
    JsonError error;
    error.kind = "cancelled";
    error.delivered = "unknown";
    error.message = "the job was cancelled";
    print_error_of(event.job, error, options, several, console);
    console.note(fmt::format("job {} was cancelled", event.job));
    return ExitCode::answered_error;
  }
  if (!several) return present_result(job.result, read_any_result, options, console);
  if (!options.json) {
    console.print(event.job + ":\n");
    return present_result(job.result, read_any_result, options, console, about);
  }
  console.print(fmt::format(R"({{"job":{},"result":{}}})", json::quote(event.job), job.result) +
                "\n");
  return is_tool_error(job.result) ? ExitCode::answered_error : ExitCode::ok;
}

void show_question(Console& console, const std::string& job, const CollectedJob& collected) {
  const bool is_elicitation = collected.question_method == "elicitation/create";
  const auto form = is_elicitation ? ElicitationForm::from_params(collected.question_params)
                                   : std::optional<ElicitationForm>();
  if (form) {
    console.note(fmt::format("job {} asks", job));
    console.prompt(form->describe());
  } else if (!collected.question_method.empty()) {
    console.note(fmt::format("job {} asks {} {}", job, collected.question_method,
                             collected.question_params));
  }
  if (form || collected.question_method.empty()) {
    console.note(fmt::format("it waits for an answer: mcp-nc answer {}", job));
  } else {
    console.note(fmt::format(
        "it waits for an answer: mcp-nc request bridge/answer '{{\"job\":{},\"result\":...}}'",
        json::quote(job)));
  }
}

}  // namespace client
