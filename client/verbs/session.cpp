// The verbs about the session and the server itself.
#include <fmt/format.h>
#include <sys/time.h>

#include <chrono>

#include "json/document.hpp"
#include "render/server_page.hpp"
#include "render/status.hpp"
#include "terminal/full_screen.hpp"
#include "terminal/styled.hpp"
#include "verbs/verbs.hpp"

namespace client {
namespace {

/// Asks for something whose result says no more than that it was done.
ExitCode have_done(Dialogue& dialogue, std::string_view method, std::string_view params) {
  const Answer answer = dialogue.ask(method, params);
  return answer.outcome == Answer::Outcome::result ? ExitCode::ok : dialogue.report(answer);
}

ExitCode for_each_uri(Dialogue& dialogue, const Options& options, std::string_view method) {
  ExitCode worst = ExitCode::ok;
  std::string done;
  for (const std::string& uri : options.operands) {
    const ExitCode code =
        have_done(dialogue, method, fmt::format(R"({{"uri":{}}})", json::quote(uri)));
    if (code == ExitCode::ok) done += (done.empty() ? "" : ",") + json::quote(uri);
    if (code != ExitCode::ok && code != ExitCode::answered_error) return code;
    if (code != ExitCode::ok) worst = code;
  }
  if (options.json && worst == ExitCode::ok)
    dialogue.console().print(fmt::format("{{\"uris\":[{}]}}\n", done));
  return worst;
}

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
    while (const int number = signals.next()) {
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

ExitCode subscribe(Dialogue& dialogue, const Options& options) {
  return for_each_uri(dialogue, options, "resources/subscribe");
}

ExitCode unsubscribe(Dialogue& dialogue, const Options& options) {
  return for_each_uri(dialogue, options, "resources/unsubscribe");
}

ExitCode ping(Dialogue& dialogue, const Options& options) {
  const auto begin = std::chrono::steady_clock::now();
  const ExitCode code = have_done(dialogue, "ping", "");
  if (code != ExitCode::ok) return code;
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  dialogue.console().print(options.json ? fmt::format("{{\"ms\":{:.3f}}}\n", took.count())
                                        : fmt::format("{:.1f} ms\n", took.count()));
  return ExitCode::ok;
}

ExitCode show_server(Dialogue& dialogue, const Options& options) {
  // Answered from the session, which is opened for it; never forwarded.
  const Answer described = dialogue.ask("server/discover", "");
  if (described.outcome != Answer::Outcome::result) return dialogue.report(described);
  const Answer status = dialogue.ask("bridge/status", "");
  if (status.outcome != Answer::Outcome::result && status.outcome != Answer::Outcome::error)
    return dialogue.report(status);
  Console& console = dialogue.console();
  const ServerPage page = read_server(
      described.payload, status.outcome == Answer::Outcome::result ? status.payload : "{}");
  console.print(options.json ? server_json(page) : render_server(page, console.output_width()));
  return ExitCode::ok;
}

ExitCode print_level(Dialogue& dialogue, const Options& options, const std::string&) {
  const std::string level = json::quote(options.operands.front());
  if (options.json) dialogue.console().print(fmt::format("{{\"level\":{}}}\n", level));
  return ExitCode::ok;
}

ExitCode print_completion(Dialogue& dialogue, const Options& options, const std::string& result) {
  Console& console = dialogue.console();
  if (options.json) {
    console.print(result + "\n");
    return ExitCode::ok;
  }
  const auto parsed = json::parse(result);
  const json::Value* const completion =
      parsed ? parsed->find("completion", json::Value::Kind::object) : nullptr;
  const json::Value* const values =
      completion == nullptr ? nullptr : completion->find("values", json::Value::Kind::array);
  if (values == nullptr) {
    console.note("the server's answer has no values (--json shows it)");
    return ExitCode::answered_error;
  }
  std::string text;
  for (const json::Value& value : values->items) text += value.text + "\n";
  console.print(text);
  if (text.empty()) console.remark("the server proposes nothing");
  if (completion->is_true("hasMore")) {
    const auto total = completion->count("total");
    console.note(total == 0 ? "the server has more"
                            : fmt::format("{} of {}", values->items.size(), total));
  }
  return ExitCode::ok;
}

ExitCode print_caller(Dialogue& dialogue, const Options& options, const std::string& result) {
  const auto status = json::parse(result);
  const json::Value* const clients =
      status ? status->find("clients", json::Value::Kind::array) : nullptr;
  const json::Value* const you = status ? status->find("you") : nullptr;
  for (std::size_t at = 0; clients != nullptr && you != nullptr && at < clients->items.size();
       ++at) {
    const json::Value& client = clients->items[at];
    if (client.count("id") != status->count("you")) continue;
    const auto uid = client.count("uid");
    const auto pid = client.count("pid");
    dialogue.console().print(
        options.json ? fmt::format("{{\"uid\":{},\"pid\":{},\"client\":{}}}\n", uid, pid, you->text)
                     : fmt::format("uid     {}\npid     {}\nclient  {}\n", uid, pid, you->text));
    return ExitCode::ok;
  }
  return dialogue.report({Answer::Outcome::result, result});
}

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
