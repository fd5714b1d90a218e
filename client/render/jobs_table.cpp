#include "render/jobs_table.hpp"

#include "command_line/duration.hpp"
#include "render/figures.hpp"
#include "render/table.hpp"
#include "terminal/utf8.hpp"

namespace client {
namespace {

/// What a peer may have made as long as it likes has this many columns here; --json has it all.
constexpr std::size_t widest_short_cell = 24;

std::string short_cell(const json::Value* value) {
  std::string text = plain_cell(value);
  if (display_width(text) <= widest_short_cell) return text;
  return std::string(fit_columns(text, widest_short_cell - 3)) + "...";
}

/// The tool that is called; of any other request its method.
std::string what_of(const json::Value& job) {
  const json::Value* tool = job.find("tool", json::Value::Kind::string);
  return short_cell(tool != nullptr ? tool : job.find("method"));
}

}  // namespace

Tone tone_of_state(std::string_view state) {
  if (state == "input_required") return Tone::warning;
  if (state == "failed") return Tone::bad;
  return state == "completed" ? Tone::good : Tone::plain;
}

std::vector<StyledLine> render_jobs(const std::vector<json::Value>& jobs, const Look& look) {
  std::vector<std::vector<TableCell>> rows;
  for (const json::Value& job : jobs) {
    const auto age = static_cast<Milliseconds::rep>(job.count("ageMs"));
    rows.push_back({{plain_cell(job.find("job"))},
                    {plain_cell(job.find("state")), tone_of_state(job.string("state"))},
                    {format_duration(Milliseconds(age)), Tone::faint},
                    {what_of(job), Tone::strong},
                    {size_text(job.count("bytes")), Tone::faint},
                    {short_cell(job.find("key"))},
                    {plain_cell(job.find("pid")), Tone::faint},
                    {plain_cell(job.find("command"))}});
  }
  return render_table({{"JOB"},
                       {"STATE"},
                       {"AGE", true},
                       {"CALL"},
                       {"BYTES", true},
                       {"KEY"},
                       {"PID", true},
                       {"COMMAND"}},
                      std::move(rows), look);
}

}  // namespace client
