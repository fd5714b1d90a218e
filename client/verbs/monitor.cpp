#include "verbs/monitor.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <utility>

#include "connection/conversation.hpp"
#include "json/message.hpp"
#include "json/scan.hpp"
#include "render/monitor_line.hpp"
#include "verbs/describe_error.hpp"
#include "verbs/named_daemon.hpp"

namespace client {
namespace {

constexpr std::string_view request_id = "1";

class MonitorView {
 public:
  MonitorView(Connected connected, const Options& options, Console& console, Interrupt& interrupt)
      : path_(std::move(connected.path)),
        options_(options),
        console_(console),
        interrupt_(interrupt),
        conversation_(std::move(connected.daemon), interrupt.descriptor()) {
    conversation_.watch_output(STDOUT_FILENO);
    conversation_.queue(json::make_request(request_id, "bridge/monitor", ""));
  }

  ExitCode run() {
    const Deadline regular_end = Deadline::after(options_.listen_for);
    const Deadline deadline = Deadline::earlier(regular_end, Deadline::after(options_.timeout));
    while (!end_) {
      switch (conversation_.next(deadline)) {
        using Event = Conversation::Event;
        case Event::line: take_line(); break;
        case Event::closed:
          console_.note("the daemon closed the connection: " + describe_end(path_));
          return ExitCode::unreachable;
        case Event::too_long:
          console_.note("the daemon sent a message of more than 64 MiB; gave up");
          return ExitCode::unreachable;
        case Event::timed_out:
          if (regular_end.passed()) return ExitCode::ok;
          console_.note("time is up (-w)");
          return ExitCode::timed_out;
        case Event::interrupted:
          return interrupt_.take() == SIGTERM ? ExitCode::terminated : ExitCode::interrupted;
        case Event::output_closed: return ExitCode::ok;
        case Event::input: break;  // none was given
      }
      if (console_.output_state() != Sink::Result::ok) return ExitCode::ok;
    }
    return *end_;
  }

 private:
  void take_line() {
    const json::Message message = json::parse_message(conversation_.line());
    if (message.id == request_id && !message.error.empty()) {
      console_.note(describe_error(message.error));
      end_ = exit_code_for_error(message.error);
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
    console_.print((options_.json ? std::string(params) : monitor_line(params)) + "\n");
    if (options_.count && ++printed_ == *options_.count) end_ = ExitCode::ok;
  }

  std::string path_;  // of the socket
  const Options& options_;
  Console& console_;
  Interrupt& interrupt_;
  Conversation conversation_;
  std::uint64_t printed_ = 0;
  std::optional<ExitCode> end_;
};

}  // namespace

ExitCode monitor(Connected connected, const Options& options, Console& console,
                 Interrupt& interrupt) {
  return MonitorView(std::move(connected), options, console, interrupt).run();
}

}  // namespace client
