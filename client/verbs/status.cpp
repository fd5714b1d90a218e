#include "render/status.hpp"

#include <fmt/format.h>
#include <sys/time.h>

#include "json/scan.hpp"
#include "terminal/full_screen.hpp"
#include "verbs/verbs.hpp"

namespace client {
namespace {

constexpr Milliseconds watch_interval{1000};

/// From the system's clock, which the daemon's times are of.
std::int64_t now_ms() {
  timeval now{};
  ::gettimeofday(&now, nullptr);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_usec / 1000;
}

ExitCode show_metrics(Dialogue& dialogue) {
  const Answer answer = dialogue.ask("bridge/metrics", "");
  if (answer.outcome != Answer::Outcome::result) return dialogue.report(answer);
  const auto text = json::member(answer.payload, "text");
  const bool is_text = text && json::is_string(*text);
  dialogue.console().print(is_text ? json::decode_string(*text) : answer.payload + "\n");
  return ExitCode::ok;
}

/// What cannot be read is shown as it came.
std::string render(const std::string& payload) {
  const auto status = json::parse(payload);
  return status ? render_status(*status, now_ms()) : payload + "\n";
}

ExitCode watch(Dialogue& dialogue) {
  using Outcome = Answer::Outcome;
  Console& console = dialogue.console();
  FullScreen screen(console);
  bool is_first = true;
  for (;;) {
    dialogue.restart_time_limit();
    const Answer answer = dialogue.ask("bridge/status", "");
    if (answer.outcome == Outcome::interrupted) return ExitCode::ok;
    if (answer.outcome != Outcome::result) {
      screen.leave();
      return dialogue.report(answer);
    }
    screen.show(render(answer.payload), !is_first);
    is_first = false;
    if (console.output_state() != Sink::Result::ok) return ExitCode::ok;
    const Outcome outcome = dialogue.pass_time(watch_interval);
    if (outcome == Outcome::interrupted) return ExitCode::ok;  // the way to end it
    if (outcome != Outcome::timed_out) {
      screen.leave();
      return dialogue.report({outcome, ""});
    }
  }
}

}  // namespace

ExitCode show_status(Dialogue& dialogue, const Options& options) {
  if (options.metrics) return show_metrics(dialogue);
  if (options.watch) return watch(dialogue);
  const Answer answer = dialogue.ask("bridge/status", "");
  if (answer.outcome != Answer::Outcome::result) return dialogue.report(answer);
  Console& console = dialogue.console();
  if (options.json) console.print(answer.payload + "\n");
  if (!options.ready) {
    if (!options.json) console.print(render(answer.payload));
    return ExitCode::ok;
  }
  const auto status = json::parse(answer.payload);
  const bool ready = status && is_ready(*status);
  if (!options.json) {
    const std::string text = status ? render_ready(*status) : "not ready: the status is unreadable";
    if (ready) {
      console.print(text + "\n");
    } else {
      console.note(text);
    }
  }
  return ready ? ExitCode::ok : ExitCode::upstream;
}

}  // namespace client
