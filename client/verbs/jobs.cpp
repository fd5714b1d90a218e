#include "json/scan.hpp"
#include "json/value.hpp"
#include "render/jobs_table.hpp"
#include "terminal/look_of.hpp"
#include "terminal/visible.hpp"
#include "verbs/job_reports.hpp"

namespace client {
namespace {

/// One a line, for other programs and the shells' completions.
std::string ids_of(const std::vector<json::Value>& jobs) {
  std::string text;
  for (const json::Value& job : jobs) text += make_visible_line(job.string("job")) + "\n";
  return text;
}

}  // namespace

ExitCode list_jobs(Dialogue& dialogue, const Options& options) {
  const Answer answer = dialogue.ask("bridge/jobs", "");
  if (answer.outcome != Answer::Outcome::result) return report_job_failure(dialogue, answer);
  Console& console = dialogue.console();
  if (options.json) {
    console.print(answer.payload + "\n");
    return ExitCode::ok;
  }
  const auto result = json::parse(answer.payload);
  const json::Value* jobs = result ? result->find("jobs", json::Value::Kind::array) : nullptr;
  if (jobs == nullptr) return report_job_failure(dialogue, answer);
  if (options.names) {
    console.print(ids_of(jobs->items));
    return ExitCode::ok;
  }
  if (jobs->items.empty()) {
    console.note("there are no jobs");
    return ExitCode::ok;
  }
  const Look look = look_of(console);
  console.print_raw(draw_lines(render_jobs(jobs->items, look), look));
  return ExitCode::ok;
}

ExitCode cancel_job(Dialogue& dialogue, const Options& options) {
  const Answer answer = dialogue.ask("bridge/cancel", job_params(options.operands[0]));
  if (answer.outcome != Answer::Outcome::result) return report_job_failure(dialogue, answer);
  const auto state = json::member(answer.payload, "state");
  if (!state || !json::is_string(*state)) return report_job_failure(dialogue, answer);
  dialogue.console().print(
      (options.json ? answer.payload : make_visible_line(json::decode_string(*state))) + "\n");
  return ExitCode::ok;
}

ExitCode forget_job(Dialogue& dialogue, const Options& options) {
  const Answer answer = dialogue.ask("bridge/forget", job_params(options.operands[0]));
  if (answer.outcome == Answer::Outcome::result && options.json) dialogue.console().print("{}\n");
  return answer.outcome == Answer::Outcome::result ? ExitCode::ok
                                                   : report_job_failure(dialogue, answer);
}

}  // namespace client
