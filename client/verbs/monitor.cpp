#include "verbs/monitor.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "connection/conversation.hpp"
#include "json/message.hpp"
#include "json/scan.hpp"
#include "json/text.hpp"
#include "render/monitor_line.hpp"
#include "terminal/visible.hpp"
#include "verbs/daemon_end.hpp"
#include "verbs/failure.hpp"
#include "verbs/running_daemon.hpp"

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
    if (options_.verb == Verb::record) {
      file_ = open_record(options_.operands.front());
      if (!file_) end_ = cannot_write();
    } else {
      conversation_.watch_output(STDOUT_FILENO);
    }
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
          if (regular_end.passed()) return file_ ? tell_recorded() : ExitCode::ok;
          return tell_failure(console_, options_,
                              {"timeout", "time is up (-w)", ExitCode::timed_out});
        case Event::interrupted:
          if (file_) return tell_recorded();
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
      ++printed_;
      if (!end_ && options_.count && printed_ == *options_.count) end_ = tell_recorded();
      return;
    }
    console_.print((options_.json ? std::string(params) : monitor_line(params)) + "\n");
    if (options_.count && ++printed_ == *options_.count) end_ = ExitCode::ok;
  }

  /// By errno.
  ExitCode cannot_write() {
    const std::string file = make_visible_line(options_.operands.front());
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

  ExitCode tell_recorded() {
    if (options_.json) {
      console_.print(fmt::format("{{\"recorded\":{},\"file\":{}}}\n", printed_,
                                 json::quote(make_visible_line(options_.operands.front()))));
    }
    console_.note(fmt::format("{} messages recorded", printed_));
    return ExitCode::ok;
  }

  std::string path_;     // of the socket
  FileDescriptor file_;  // of record
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
