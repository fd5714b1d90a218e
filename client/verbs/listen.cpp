#include "verbs/listen.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "connection/conversation.hpp"
#include "json/message.hpp"
#include "verbs/daemon_end.hpp"
#include "verbs/failure.hpp"
#include "verbs/listen_join.hpp"
#include "verbs/running_daemon.hpp"
#include "verbs/tell_notification.hpp"
#include "verbs/wire.hpp"

namespace client {
namespace {

class Listener {
 public:
  Listener(Connected connected, const Options& options, Console& console, Interrupt& interrupt)
      : path_(std::move(connected.path)),
        options_(options),
        console_(console),
        interrupt_(interrupt),
        conversation_(std::move(connected.daemon), interrupt.descriptor()) {
    if (options.since || options.sequence) join_.emplace(options.since);
    only_now_ = options.listen_for == Milliseconds(0);
    conversation_.watch_output(STDOUT_FILENO);
  }

  ExitCode run() {
    // What is there now is at its end when the daemon says so, not at a time.
    const Deadline regular_end =
        only_now_ ? Deadline::never() : Deadline::after(options_.listen_for);
    const Deadline deadline = Deadline::earlier(regular_end, Deadline::after(options_.timeout));
    if (join_) {
      ask_page();
    } else if (only_now_) {
      conversation_.finish_sending();
    }
    using Event = Conversation::Event;
    for (;;) {
      switch (conversation_.next(deadline)) {
        case Event::line: take_line(); break;
        case Event::closed:
          if (only_now_ && !join_) return ExitCode::ok;
          return tell_failure(console_, options_,
                              {"daemon",
                               "the daemon closed the connection: " +
                                   describe_end(path_, process_behind(conversation_.descriptor())),
                               ExitCode::unreachable});
        case Event::too_long:
          return tell_failure(
              console_, options_,
              {"too_large", "the daemon sent a message of more than 64 MiB; gave up",
               ExitCode::unreachable});
        case Event::timed_out:
          drain();
          if (regular_end.passed()) return ExitCode::ok;
          return tell_failure(console_, options_,
                              {"timeout", "time is up (-w)", ExitCode::timed_out});
        case Event::interrupted: {
          const int number = interrupt_.take();
          drain();
          return number == SIGTERM ? ExitCode::terminated : ExitCode::interrupted;
        }
        case Event::output_closed: return ExitCode::ok;
        case Event::input: break;  // none was given
      }
      if (end_) {
        drain();
        return *end_;
      }
      if (console_.output_state() != Sink::Result::ok) return ExitCode::ok;
    }
  }

 private:
  void ask_page() {
    conversation_.queue(json::make_request("1", "bridge/notifications", join_->params()));
  }

  void take_line() {
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
        console_.note("ignored a line from the daemon that is no JSON-RPC message");
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
                          {"daemon", "the daemon's answer to bridge/notifications cannot be read",
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
    if (options_.count && ++printed_ == *options_.count) end_ = ExitCode::ok;
  }

  /// Takes what the daemon has written already.
  void drain() {
    if (join_) return;
    conversation_.finish_sending();
    const Deadline deadline = Deadline::after(farewell);
    while (conversation_.next(deadline) == Conversation::Event::line) take_line();
  }

  std::string path_;  // of the socket
  const Options& options_;
  Console& console_;
  Interrupt& interrupt_;
  Conversation conversation_;
  std::optional<ListenJoin> join_;  // only with --since or --seq
  bool only_now_ = false;
  std::uint64_t printed_ = 0;
  std::optional<ExitCode> end_;
};

}  // namespace

ExitCode listen(Connected connected, const Options& options, Console& console,
                Interrupt& interrupt) {
  return Listener(std::move(connected), options, console, interrupt).run();
}

}  // namespace client
