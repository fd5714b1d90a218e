#include "verbs/listen.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <cstring>
#include <ctime>

#include "render/lines.hpp"
#include "text/visible_text.hpp"

namespace client {
namespace {

/// nullopt if it is not a number.
std::optional<std::uint64_t> read_sequence(std::string_view object, std::string_view name) {
  const auto found = json::find_member(object, name);
  return found ? bridge::to_unsigned(*found) : std::nullopt;
}

constexpr int page_limit = 1000;
/// Handles messages until the end set by the options, or another one.
ExitCode follow(Dialogue& dialogue, const Options& options, bool only_now) {
  using Outcome = Answer::Outcome;
  // With only_now the end is announced by the daemon, not set by a time.
  const Deadline regular_end = only_now ? Deadline::never() : Deadline::after(options.listen_for);
  const Outcome outcome = dialogue.pass_time(Deadline::earlier(regular_end, dialogue.deadline()));
  if (outcome == Outcome::woken || (outcome == Outcome::hung_up && only_now) ||
      (outcome == Outcome::timed_out && regular_end.passed()))
    return ExitCode::ok;
  if (outcome == Outcome::timed_out)
    return tell_failure(dialogue.console(), options,
                        {"timeout", timed_out_after(options), ExitCode::timed_out});
  const Answer end{outcome, ""};
  return outcome == Outcome::interrupted ? dialogue.failure_of(end).code : dialogue.report(end);
}

/// The time of day as in the daemon's log (the C library's time zones take 135 KB), and a sentence.
std::string heard_line(const std::string& line) {
  const json::Message message = json::parse_message(line);
  constexpr std::time_t minute = 60, hour = 60 * minute, day = 24 * hour;
  const std::time_t now = std::time(nullptr);
  return fmt::format("{:02}:{:02}:{:02}Z  {}\n", now % day / hour, now % hour / minute,
                     now % minute, bridge::make_visible_line(notification_line(message)));
}

std::string uri_object(const std::string& uri) { return json::JsonObject().add("uri", uri).text(); }

FileDescriptor open_record(const std::string& path) {
  FileDescriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0600));
  struct stat there {};
  if (file && ::fstat(file.get(), &there) == 0 && S_ISREG(there.st_mode))
    ::fchmod(file.get(), 0600);  // an existing file may have been readable for others
  return file;
}

/// Passes each message to `print`, which returns false if it could not be written.
ExitCode watch_messages(Dialogue& dialogue, const Options& options, std::uint64_t& printed,
                        const std::function<bool(std::string_view params)>& print) {
  bool is_broken = false;
  dialogue.hear([&](std::string_view line) {
    const json::Message message = json::parse_message(line);
    if (message.method != "notifications/bridge/monitor" || is_broken || printed == options.count)
      return false;
    if (json::find_member(message.params,
                          "ended")) {  // by an upgrade: the new process is asked again
      dialogue.send("bridge/monitor", "");
      return false;
    }
    is_broken = !print(message.params);
    return is_broken || ++printed == options.count;
  });
  const Answer answer = dialogue.ask("bridge/monitor", "");
  ExitCode code = ExitCode::ok;
  if (answer.ok()) {
    code = follow(dialogue, options, false);
  } else if (answer.outcome != Answer::Outcome::woken) {
    code = dialogue.report(answer);
  }
  return is_broken ? ExitCode::answered_error : code;
}

}  // namespace

std::string message_of_entry(std::string_view entry) {
  // One that is nested too deep for the answer is a string in it.
  const auto message = json::find_member(entry, "message");
  return message ? std::string(*message) : json::string_member(entry, "text");
}

ExitCode listen(Dialogue& dialogue, const Options& options) {
  if (!options.exec.empty()) return handle_notifications(dialogue, options);
  Console& console = dialogue.console();
  const bool only_now = options.listen_for == Milliseconds(0);
  std::optional<ListenJoin> join;  // only with --since or --seq
  if (options.since || options.sequence) join.emplace(options.since);
  std::uint64_t printed = 0;
  if (!options.operands.empty() && (join || only_now))
    return tell_failure(
        console, options,
        {"usage", "listen URI: without --since, --seq and --for 0", ExitCode::usage});
  const bool is_for_person = console.output_is_terminal() && !options.json && !options.sequence;
  const auto print = [&](const Received& heard) {
    if (printed != options.count) {
      console.print(is_for_person ? heard_line(heard.message)
                                  : render_received(heard, options.sequence));
      return ++printed == options.count || console.output_state() != Sink::Result::ok;
    }
    // Messages that were only looked at stay in the daemon.
    if (!join) tell_notification(console, heard.message);
    return false;
  };
  dialogue.watch_output();
  dialogue.hear([&](std::string_view line) {
    if (!join) return print({std::nullopt, std::string(line)});
    const auto heard = join->take_live(line);
    return heard && print(*heard);
  });
  for (const std::string& uri : options.operands) {
    const Answer answer = dialogue.ask("resources/subscribe", uri_object(uri));
    if (answer.outcome == Answer::Outcome::woken) break;
    if (!answer.ok()) return dialogue.report(answer);
  }
  while (join && !join->joined() && printed != options.count) {
    const Answer answer = dialogue.ask("bridge/notifications", join->params());
    if (answer.outcome == Answer::Outcome::woken) return ExitCode::ok;
    if (!answer.ok()) return dialogue.report(answer);
    const auto page = join->take_page(answer.payload);
    if (!page)
      return tell_failure(console, options,
                          {"daemon", "cannot read the daemon's response to bridge/notifications"});
    if (!page->warning.empty()) console.note(page->warning);
    for (const Received& heard : page->heard) print(heard);
  }
  ExitCode code = ExitCode::ok;
  if (printed != options.count && !(join && only_now)) {
    if (only_now) dialogue.finish_sending();
    code = follow(dialogue, options, only_now);
  }
  for (const std::string& uri : options.operands)
    dialogue.await({dialogue.send("resources/unsubscribe", uri_object(uri))},
                   Deadline::after(farewell));
  dialogue.leave();
  if (code == ExitCode::ok && printed == 0) console.remark("no notifications");
  return code;
}

ExitCode monitor(Dialogue& dialogue, const Options& options) {
  Console& console = dialogue.console();
  dialogue.watch_output();
  std::uint64_t printed = 0;
  return watch_messages(dialogue, options, printed, [&](std::string_view params) {
    console.print_line(options.json ? std::string(params) : monitor_line(params));
    return console.output_state() == Sink::Result::ok;
  });
}

ExitCode record(Dialogue& dialogue, const Options& options) {
  Console& console = dialogue.console();
  const std::string& path = options.operands.front();
  const auto report = [&] {
    const std::string why = fmt::format("cannot write {}: {}", path, std::strerror(errno));
    return tell_failure(console, options, {"file", why});
  };
  const FileDescriptor file = open_record(path);
  if (!file) return report();
  const Sink sink(file.get());
  std::uint64_t printed = 0;
  bool is_written = true;
  const ExitCode code = watch_messages(dialogue, options, printed, [&](std::string_view params) {
    const auto result = sink.write_all(std::string(params) + "\n", dialogue.interrupt());
    is_written = result != Sink::Result::failed;
    if (!is_written) report();
    return is_written;
  });
  // An interrupt is the regular end of a recording.
  if (!is_written ||
      (code != ExitCode::ok && code != ExitCode::interrupted && code != ExitCode::terminated))
    return code;
  const std::string shown = bridge::make_visible_line(path);
  if (options.json) console.print(json::JsonObject().add("recorded", printed).add("file", shown));
  console.note(fmt::format("{} messages recorded", printed));
  return ExitCode::ok;
}

std::string ListenJoin::params() const {
  json::JsonObject params;
  params.add("since", since_).add("limit", page_limit);
  return params.add_unless_empty("instance", json::RawJson{instance_}).text();
}

std::optional<ListenJoin::Page> ListenJoin::take_page(std::string_view result) {
  const auto array = json::find_member(result, "notifications");
  const auto entries = array ? json::elements(*array) : std::nullopt;
  if (!entries) return std::nullopt;
  const bool has_more = json::is_true(result, "more");
  newest_ = read_sequence(result, "newest").value_or(0);
  if (const auto instance = json::find_member(result, "instance")) instance_ = *instance;

  Page page;
  if (newest_ < since_) {
    // Numbers start at 1 again when the daemon restarts: all its messages are after `since`. Or
    // the number is from elsewhere.
    page.warning = fmt::format(
        "no notification {}, the daemon's newest is {}: it was restarted and some are missed, or "
        "the number is not its own",
        since_, newest_);
    page.ask_again = newest_ > 0;
    joined_ = !page.ask_again;
    since_ = 0;
    return page;
  }
  if (json::is_true(result, "gap") && !(only_untaken_ && since_ == 0)) {
    page.warning = fmt::format("missed notifications {} to {}: no longer in the daemon", since_ + 1,
                               read_sequence(result, "oldest").value_or(newest_ + 1) - 1);
  }
  bool has_progress = false;
  for (const std::string_view entry : *entries) {
    const auto sequence = read_sequence(entry, "seq");
    std::string message = message_of_entry(entry);
    if (!sequence || message.empty()) return std::nullopt;
    if (*sequence <= since_) continue;
    since_ = *sequence;
    has_progress = true;
    if (only_untaken_ && json::is_true(entry, "taken")) continue;
    page.heard.push_back({sequence, std::move(message)});
  }
  page.ask_again = has_more && has_progress;  // without progress it would never end
  joined_ = !page.ask_again;
  return page;
}

std::optional<Received> ListenJoin::take_live(std::string_view line) {
  if (!joined_) return std::nullopt;
  return Received{++newest_, std::string(line)};
}

std::string render_received(const Received& heard, bool with_sequence) {
  if (!with_sequence) return heard.message + "\n";
  json::JsonObject object;
  if (heard.sequence) object.add("seq", *heard.sequence);
  return object.add("message", json::RawJson{heard.message}).text() + "\n";
}

}  // namespace client
