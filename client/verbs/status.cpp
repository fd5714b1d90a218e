#include "render/status.hpp"

#include <fmt/format.h>
#include <sys/time.h>

#include "json/text.hpp"
#include "terminal/full_screen.hpp"
#include "terminal/styled.hpp"
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

ExitCode show_metrics(Dialogue& dialogue, const Options& options) {
  const Answer answer = dialogue.ask("bridge/metrics", "");
  if (answer.outcome != Answer::Outcome::result) return dialogue.report(answer);
  if (options.json) {
    dialogue.console().print(answer.payload + "\n");
    return ExitCode::ok;
  }
  const auto text = json::member(answer.payload, "text");
  const bool is_text = text && json::is_string(*text);
  dialogue.console().print(is_text ? json::decode_string(*text) : answer.payload + "\n");
  return ExitCode::ok;
}

/// What cannot be read is shown as it came.
std::vector<StyledLine> render(const std::string& payload, const Look& look) {
  if (const auto status = json::parse(payload)) return render_status(*status, now_ms(), look);
  std::vector<StyledLine> lines;
  lines.emplace_back().add(payload);
  return lines;
}

/// Shows the last answer until it is time for the next one; false if something ended that.
bool pass_interval(Dialogue& dialogue, TerminalSignals& signals, FullScreen& screen,
                   const std::string& payload, Answer::Outcome& outcome) {
  const Deadline end = Deadline::after(watch_interval);
  for (;;) {
    outcome = dialogue.pass_time(end, signals.descriptor());
    if (outcome == Answer::Outcome::timed_out) return true;
    if (outcome != Answer::Outcome::woken) return false;
    while (const int number = signals.take()) {
      if (number != SIGWINCH) {
        screen.leave();
        signals.follow(number);
        screen.enter();
      }
      if (!dialogue.console().output_is_terminal()) continue;
      const Look look = look_of(dialogue.console(), true);
      screen.show(render(payload, look), look);
    }
  }
}

/// ^C is the way to end it; SIGTERM comes from somebody who wants to know that it was obeyed.
ExitCode end_watching(Dialogue& dialogue) {
  const ExitCode code = dialogue.report({Answer::Outcome::interrupted, ""});
  return code == ExitCode::interrupted ? ExitCode::ok : code;
}

ExitCode watch(Dialogue& dialogue) {
  using Outcome = Answer::Outcome;
  Console& console = dialogue.console();
  TerminalSignals signals;
  FullScreen screen(console);
  for (;;) {
    dialogue.restart_time_limit();
    const Answer answer = dialogue.ask("bridge/status", "");
    if (answer.outcome == Outcome::interrupted) return end_watching(dialogue);
    if (answer.outcome != Outcome::result) {
      screen.leave();
      return dialogue.report(answer);
    }
    const Look look = look_of(console, console.output_is_terminal());
    screen.show(render(answer.payload, look), look);
    if (console.output_state() != Sink::Result::ok) return ExitCode::ok;
    Outcome outcome{};
    if (pass_interval(dialogue, signals, screen, answer.payload, outcome)) continue;
    if (outcome == Outcome::interrupted) return end_watching(dialogue);
    screen.leave();
    return dialogue.report({outcome, ""});
  }
}

/// A line each time.
ExitCode watch_as_json(Dialogue& dialogue) {
  for (;;) {
    dialogue.restart_time_limit();
    const Answer answer = dialogue.ask("bridge/status", "");
    if (answer.outcome != Answer::Outcome::result) return dialogue.report(answer);
    dialogue.console().print(answer.payload + "\n");
    if (dialogue.console().output_state() != Sink::Result::ok) return ExitCode::ok;
    const Answer::Outcome outcome = dialogue.pass_time(watch_interval);
    if (outcome != Answer::Outcome::timed_out) return dialogue.report({outcome, ""});
  }
}

ExitCode say_whether_ready(Console& console, const std::string& payload, bool aloud) {
  const auto status = json::parse(payload);
  const bool ready = status && is_ready(*status);
  if (aloud) {
    const std::string text = status ? render_ready(*status) : "not ready: the status is unreadable";
    if (ready) {
      console.print(text + "\n");
    } else {
      console.note(text);
    }
  }
  return ready ? ExitCode::ok : ExitCode::upstream;
}

}  // namespace

ExitCode show_status(Dialogue& dialogue, const Options& options) {
  if (options.metrics) return show_metrics(dialogue, options);
  if (options.watch) return options.json ? watch_as_json(dialogue) : watch(dialogue);
  const Answer answer = dialogue.ask("bridge/status", "");
  if (answer.outcome != Answer::Outcome::result) return dialogue.report(answer);
  Console& console = dialogue.console();
  if (options.json) console.print(answer.payload + "\n");
  if (options.ready) return say_whether_ready(console, answer.payload, !options.json);
  if (!options.json) {
    const Look look = look_of(console);
    console.print_raw(draw_lines(render(answer.payload, look), look));
  }
  return ExitCode::ok;
}

}  // namespace client
