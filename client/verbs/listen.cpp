#include "verbs/listen.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "json/json_text.hpp"
#include "render/lines.hpp"
#include "servers/instance.hpp"
#include "text/json.hpp"
#include "text/visible_text.hpp"
#include "verbs/dialogue.hpp"

namespace client {
namespace {

/// Nothing if it is no number.
std::optional<std::uint64_t> read_sequence(std::string_view object, std::string_view name) {
  const auto found = json::member(object, name);
  return found ? bridge::to_unsigned(*found) : std::nullopt;
}

constexpr int page_limit = 1000;
constexpr std::string_view request_id = "1";

/// What comes over a connection of its own, until something ends it.
class Stream {
 public:
  Stream(Connected connected, const Options& options, Console& console, Interrupt& interrupt)
      : options_(options),
        console_(console),
        interrupt_(interrupt),
        conversation_(std::move(connected.daemon), interrupt.descriptor()),
        path_(std::move(connected.path)) {}
  virtual ~Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  ExitCode run() {
    using Event = Conversation::Event;
    // What is there now is at its end when the daemon says so, not at a time.
    const Deadline regular_end =
        only_now_ ? Deadline::never() : Deadline::after(options_.listen_for);
    const Deadline deadline = Deadline::earlier(regular_end, Deadline::after(options_.timeout));
    while (!end_) {
      if (console_.output_state() != Sink::Result::ok) return ExitCode::ok;
      switch (conversation_.next(deadline)) {
        case Event::line: take_line(); break;
        case Event::closed:
          if (only_now_ && is_taken_) return finish(ExitCode::ok);
          return fail("daemon",
                      "the daemon closed the connection: " +
                          describe_end(path_, process_behind(conversation_.descriptor())),
                      ExitCode::unreachable);
        case Event::too_long:
          return fail("too_large",
                      fmt::format("the daemon sent a message of more than {} MiB",
                                  Conversation::longest_line >> 20),
                      ExitCode::unreachable);
        case Event::timed_out:
          drain();
          return regular_end.passed()
                     ? finish(ExitCode::ok)
                     : fail("timeout", timed_out_after(options_), ExitCode::timed_out);
        case Event::interrupted: {
          const int number = interrupt_.take();
          drain();
          return finish(number == SIGTERM ? ExitCode::terminated : ExitCode::interrupted);
        }
        case Event::output_closed: return ExitCode::ok;
        case Event::input: break;  // none was given
      }
    }
    drain();
    return finish(*end_);
  }

 protected:
  virtual void take_line() = 0;
  /// At the regular end, and when it is interrupted.
  virtual ExitCode finish(ExitCode code) { return code; }

  /// Takes what the daemon has written already.
  void drain() {
    if (!is_taken_) return;
    conversation_.finish_sending();
    const Deadline deadline = Deadline::after(farewell);
    while (conversation_.next(deadline) == Conversation::Event::line) take_line();
  }

  ExitCode fail(std::string kind, std::string message, ExitCode code) {
    return tell_failure(console_, options_, {std::move(kind), std::move(message), code});
  }

  const Options& options_;
  Console& console_;
  Interrupt& interrupt_;
  Conversation conversation_;
  bool only_now_ = false;
  bool is_taken_ = false;  // what the daemon writes is gone from it
  std::uint64_t printed_ = 0;
  std::optional<ExitCode> end_;

 private:
  std::string path_;  // of the socket
};

class Listener final : public Stream {
 public:
  Listener(Connected connected, const Options& options, Console& console, Interrupt& interrupt)
      : Stream(std::move(connected), options, console, interrupt) {
    if (options.since || options.sequence) join_.emplace(options.since);
    only_now_ = options.listen_for == Milliseconds(0);
    is_taken_ = !join_;
    conversation_.watch_output(STDOUT_FILENO);
    if (join_) {
      ask_page();
    } else if (only_now_) {
      conversation_.finish_sending();
    }
  }

 private:
  ExitCode finish(ExitCode code) override {
    if (code == ExitCode::ok && printed_ == 0) console_.remark("no notifications");
    return code;
  }

  void ask_page() {
    conversation_.queue(json::make_request("1", "bridge/notifications", join_->params()));
  }

  void take_line() override {
    const json::Message message = json::parse_message(conversation_.line());
    switch (message.kind) {
      case json::Message::Kind::notification: take_notification(conversation_.line()); break;
      case json::Message::Kind::response: take_response(message); break;
      case json::Message::Kind::request:
        conversation_.queue(
            message.method == "ping"
                ? json::make_result(message.id, "{}")
                : json::make_error(message.id, method_not_found, "mcp-nc listen only listens"));
        break;
      case json::Message::Kind::invalid:
        console_.note("ignored a line from the daemon: not a JSON-RPC message");
    }
  }

  void take_notification(std::string_view line) {
    if (!join_) return print({std::nullopt, std::string(line)});
    if (const auto heard = join_->take_live(line)) print(*heard);
  }

  void take_response(const json::Message& message) {
    if (!join_ || join_->joined()) return;
    if (!message.error.empty()) {
      end_ = tell_error(console_, options_, message.error);
      return;
    }
    const auto page = join_->take_page(message.result);
    if (!page) {
      end_ = tell_failure(console_, options_,
                          {"daemon", "cannot read the daemon's response to bridge/notifications",
                           ExitCode::answered_error});
      return;
    }
    if (!page->warning.empty()) console_.note(page->warning);
    for (const Heard& heard : page->heard) print(heard);
    if (page->ask_again) {
      ask_page();
    } else if (only_now_ && !end_) {
      end_ = ExitCode::ok;
    }
  }

  void print(const Heard& heard) {
    if (end_ && join_) return;  // it is still in the daemon
    if (end_) return tell_notification(console_, heard.message);
    console_.print(render_heard(heard, options_.sequence));
    if (++printed_ == options_.count) end_ = ExitCode::ok;
  }

  std::optional<ListenJoin> join_;  // only with --since or --seq
};

class Monitor final : public Stream {
 public:
  /// With a file (record) they go there, else to stdout.
  Monitor(Connected connected, const Options& options, Console& console, Interrupt& interrupt,
          bool to_file)
      : Stream(std::move(connected), options, console, interrupt) {
    if (to_file) {
      file_ = open_record(options_.operands.front());
      if (!file_) end_ = cannot_write();
    } else {
      conversation_.watch_output(STDOUT_FILENO);
    }
    conversation_.queue(json::make_request(request_id, "bridge/monitor", ""));
  }

 private:
  void take_line() override {
    const json::Message message = json::parse_message(conversation_.line());
    if (message.id == request_id && !message.error.empty()) {
      end_ = tell_error(console_, options_, message.error);
    } else if (message.kind == json::Message::Kind::notification &&
               message.method == "notifications/bridge/monitor") {
      print(message.params);
    }
  }

  void print(std::string_view params) {
    if (json::member(params, "ended")) {  // by an upgrade: the new program is asked again
      conversation_.queue(json::make_request(request_id, "bridge/monitor", ""));
      return;
    }
    if (file_) {
      const Sink sink(file_.get());
      if (sink.write_all(std::string(params) + "\n", interrupt_.descriptor()) ==
          Sink::Result::failed) {
        end_ = cannot_write();
        return;
      }
    } else {
      console_.print((options_.json ? std::string(params) : monitor_line(params)) + "\n");
    }
    if (++printed_ == options_.count) end_ = ExitCode::ok;
  }

  /// By errno.
  ExitCode cannot_write() {
    const std::string file = bridge::make_visible_line(options_.operands.front());
    return tell_failure(console_, options_,
                        {"file", fmt::format("cannot write {}: {}", file, std::strerror(errno)),
                         ExitCode::answered_error});
  }

  static FileDescriptor open_record(const std::string& path) {
    FileDescriptor file(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0600));
    struct stat there {};
    if (file && ::fstat(file.get(), &there) == 0 && S_ISREG(there.st_mode))
      ::fchmod(file.get(), 0600);  // it may have been there, for everybody to read
    return file;
  }

  /// An interrupt is the regular end of a record.
  ExitCode finish(ExitCode code) override {
    if (!file_ ||
        (code != ExitCode::ok && code != ExitCode::interrupted && code != ExitCode::terminated))
      return code;
    if (options_.json) {
      console_.print(
          fmt::format("{{\"recorded\":{},\"file\":{}}}\n", printed_,
                      json::quote(bridge::make_visible_line(options_.operands.front()))));
    }
    console_.note(fmt::format("{} messages recorded", printed_));
    return ExitCode::ok;
  }

  FileDescriptor file_;  // of record
};

}  // namespace

ExitCode listen(Connected connected, const Options& options, Console& console,
                Interrupt& interrupt) {
  return Listener(std::move(connected), options, console, interrupt).run();
}

std::string ListenJoin::params() const {
  std::string text = fmt::format(R"({{"since":{},"limit":{})", since_, page_limit);
  if (!instance_.empty()) text += ",\"instance\":" + instance_;
  return text + "}";
}

std::optional<ListenJoin::Page> ListenJoin::take_page(std::string_view result) {
  const auto array = json::member(result, "notifications");
  const auto entries = array ? json::elements(*array) : std::nullopt;
  if (!entries) return std::nullopt;
  const bool has_more = json::is_true(result, "more");
  newest_ = read_sequence(result, "newest").value_or(0);
  if (const auto instance = json::member(result, "instance")) instance_ = *instance;

  Page page;
  if (newest_ < since_) {
    // Numbers begin at 1 again when the daemon restarts: all it has is after `since`.
    page.warning =
        fmt::format("missed notifications: the daemon was restarted, its newest is {}, not {}",
                    newest_, since_);
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
    const auto message = json::member(entry, "message");
    if (!sequence || !message) return std::nullopt;
    if (*sequence <= since_) continue;
    since_ = *sequence;
    has_progress = true;
    if (only_untaken_ && json::is_true(entry, "taken")) continue;
    page.heard.push_back({sequence, std::string(*message)});
  }
  page.ask_again = has_more && has_progress;  // without progress it would go on for ever
  joined_ = !page.ask_again;
  return page;
}

std::optional<Heard> ListenJoin::take_live(std::string_view line) {
  if (!joined_) return std::nullopt;
  return Heard{++newest_, std::string(line)};
}

std::string render_heard(const Heard& heard, bool with_sequence) {
  if (!with_sequence) return heard.message + "\n";
  if (!heard.sequence) return fmt::format("{{\"message\":{}}}\n", heard.message);
  return fmt::format("{{\"seq\":{},\"message\":{}}}\n", *heard.sequence, heard.message);
}

ExitCode monitor(Connected connected, const Options& options, Console& console,
                 Interrupt& interrupt) {
  return Monitor(std::move(connected), options, console, interrupt, false).run();
}

ExitCode record(Connected connected, const Options& options, Console& console,
                Interrupt& interrupt) {
  return Monitor(std::move(connected), options, console, interrupt, true).run();
}

}  // namespace client
