// listen --exec: a command for each notification that no client has taken.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include <cstdlib>
#include <cstring>

#include "process/spawn.hpp"
#include "servers/daemon_program.hpp"
#include "verbs/job_messages.hpp"
#include "verbs/listen.hpp"

namespace client {
namespace {

constexpr Milliseconds first_pause{1000}, longest_pause{60'000};
constexpr Milliseconds time_to_answer{5000};
/// Between SIGTERM and SIGKILL.
constexpr Milliseconds time_to_end{5000};
/// For the last of a group whose shell has ended.
constexpr Milliseconds time_of_group{50};
/// A longer one would not fit into a variable of the environment (MAX_ARG_STRLEN, execve(2)).
constexpr std::size_t longest_variable = 64 << 10;

/// "" where it does not fit, or would be cut off.
void set_variable(const char* name, const std::string& value) {
  const bool fits = value.size() <= longest_variable && value.find('\0') == value.npos;
  ::setenv(name, fits ? value.c_str() : "", 1);
}

/// Opens the file for what is given up, for this process alone. Returns why it cannot be used, ""
/// if it can.
std::string open_dead_letters(const std::string& path, FileDescriptor& file) {
  constexpr int how = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  file = FileDescriptor(::open(path.c_str(), how, 0600));
  struct stat facts {};
  if (!file || ::fstat(file.get(), &facts) != 0) return std::strerror(errno);
  if (!S_ISREG(facts.st_mode)) return "not a regular file";
  if (facts.st_uid == ::geteuid()) ::fchmod(file.get(), 0600);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return {};
  return errno == EWOULDBLOCK ? "another handler writes it; give each a file of its own"
                              : std::strerror(errno);
}

/// Whether the file is still the one at its path, not rotated or removed.
bool is_at(const std::string& path, int file) {
  struct stat there {};
  struct stat ours {};
  return ::stat(path.c_str(), &there) == 0 && ::fstat(file, &ours) == 0 &&
         there.st_dev == ours.st_dev && there.st_ino == ours.st_ino;
}

/// Appends the line whole or not at all, on disk. Returns errno.
int append_line(int file, std::string line) {
  const off_t size = ::lseek(file, 0, SEEK_END);
  char last = '\n';
  // The last one may have been cut off by the end of the process that wrote it.
  if (size > 0 && ::pread(file, &last, 1, size - 1) == 1 && last != '\n') line.insert(0, 1, '\n');
  if (bridge::write_all(file, line + "\n") && ::fdatasync(file) == 0) return 0;
  const int error = errno;
  return ::ftruncate(file, size) == 0 ? error : errno;
}

/// Whether stdout is a pipe that is no longer read.
bool output_is_closed() {
  pollfd output = {STDOUT_FILENO, 0, 0};
  return ::poll(&output, 1, 0) > 0 && (output.revents & POLLERR) != 0;
}

/// A terminal that goes away ends the handler like SIGTERM, unless that was ignored (nohup).
void end_at_hangup() {
  if (::signal(SIGHUP, [](int) { ::kill(::getpid(), SIGTERM); }) == SIG_IGN)
    ::signal(SIGHUP, SIG_IGN);
}

std::string describe_status(int status) {
  return WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status))
                             : fmt::format("exit code {}", WEXITSTATUS(status));
}

class Handler {
 public:
  Handler(Dialogue& dialogue, const Options& options) : dialogue_(dialogue), options_(options) {}

  ExitCode run();

 private:
  Answer ask(std::string_view method, const std::string& params) {
    return dialogue_.await({dialogue_.send(method, params)}, time_left());
  }
  /// What is under way at the end may still be answered.
  Deadline time_left() const {
    if (is_ending_) return Deadline::after(time_to_answer);
    return options_.listen_for ? Deadline::after(end_.left() + time_to_answer) : Deadline::never();
  }
  Answer begin();
  std::string next_params(Milliseconds wait) const;
  bool take_up(std::string_view page);
  bool handle();
  std::string give_up();
  std::string run_command(bool& has_failed);
  std::string await_command(pid_t process, bool& has_failed);
  void pause(Milliseconds time);
  void pause_longer() { pause(std::exchange(pause_, std::min(2 * pause_, longest_pause))); }

  Dialogue& dialogue_;
  const Options& options_;
  SignalDescriptor children_{SIGCHLD};
  FileDescriptor dead_letters_;
  Deadline end_ = Deadline::after(options_.listen_for);
  bool has_begun_ = false;  // on this connection
  bool hung_up_ = false;    // before this connection was of use
  std::string instance_;    // JSON, of the daemon's ring
  std::uint64_t dropped_ = 0;
  // The notification.
  std::uint64_t sequence_ = 0;
  std::string line_;
  std::uint64_t failures_ = 0;  // of the command
  bool is_handled_ = false;     // and is to be taken
  Milliseconds pause_ = first_pause;
  bool is_ending_ = false;  // after a signal, or because our output is not read
};

/// Makes the daemon open its session, since without one there are no notifications, and subscribes.
/// Then looks whether it accepts what it is asked later.
Answer Handler::begin() {
  dialogue_.send("server/discover", "");
  for (const std::string& uri : options_.operands) {
    Answer answer = ask("resources/subscribe", json::JsonObject().add("uri", uri).text());
    if (!answer.ok()) return answer;
  }
  Answer knows_take = ask("bridge/take", R"({"instance":"","seqs":[]})");
  return knows_take.ok() ? ask("bridge/notifications", next_params(Milliseconds(0))) : knows_take;
}

std::string Handler::next_params(Milliseconds wait) const {
  json::JsonObject params;
  params.add("untaken", true).add("limit", 1).add("waitMs", longest_wait_ms(wait));
  json::JsonArray methods;
  // Only exceptions: from all.
  if (!options_.methods.empty() && options_.methods.front().starts_with('!')) methods.add("*");
  for (const std::string& glob : options_.methods) methods.add(glob);
  return methods.is_empty() ? params.text() : params.add("methods", methods).text();
}

/// Reads the result of bridge/notifications. False: there is none.
bool Handler::take_up(std::string_view page) {
  const auto number = [](std::string_view object, std::string_view name) {
    return bridge::to_unsigned(json::find_member(object, name).value_or("")).value_or(0);
  };
  const std::string instance(json::find_member(page, "instance").value_or("\"\""));
  const bool is_other = std::exchange(instance_, instance) != instance;
  const std::uint64_t dropped = number(page, "dropped");
  const std::uint64_t before = std::exchange(dropped_, dropped);
  if (!is_other && dropped > before)
    dialogue_.console().note(fmt::format(
        "{} notifications left the daemon's ring before any client took them", dropped - before));
  const auto entries = json::elements(json::find_member(page, "notifications").value_or(""));
  if (!entries || entries->empty()) return false;
  const std::uint64_t sequence = number(entries->front(), "seq");
  if (std::exchange(sequence_, sequence) != sequence || is_other) {
    failures_ = 0;
    pause_ = first_pause;
  }
  line_ = message_of_entry(entries->front());
  return true;
}

/// Runs the command, or gives up. True: it is to be taken.
bool Handler::handle() {
  const auto is_given_up = [this] { return options_.retries && failures_ > *options_.retries; };
  std::string why = "it has failed";
  if (!is_given_up()) {
    bool has_failed = false;
    why = run_command(has_failed);
    if (why.empty()) return true;
    if (has_failed) ++failures_;
  }
  bool is_over = is_given_up();
  if (std::string error = is_over ? give_up() : ""; !error.empty()) {
    why = std::move(error);
    is_over = false;
  }
  const bool is_last = is_ending_ || end_.passed();
  dialogue_.console().note(fmt::format("notification {}: {}; {}", sequence_, why,
                                       is_over ? "given up"
                                       : is_last
                                           ? "not handled"
                                           : fmt::format("again in {}", format_duration(pause_))));
  if (!is_over && !is_last) pause_longer();
  return is_over;
}

/// Records what is given up. Returns why it cannot be, "" if it is.
std::string Handler::give_up() {
  if (options_.dead.empty()) return {};
  std::string why;
  if (!is_at(options_.dead, dead_letters_.get()))
    why = open_dead_letters(options_.dead, dead_letters_);
  if (const int error = why.empty() ? append_line(dead_letters_.get(), line_) : 0)
    why = std::strerror(error);
  return why.empty() ? why : fmt::format("cannot write {}: {}", options_.dead, why);
}

/// Returns why it is not handled, "" if it is. `has_failed`: by the command itself, or its time.
std::string Handler::run_command(bool& has_failed) {
  const FileDescriptor input = sealed_file("notification", line_ + "\n");
  if (!input || ::lseek(input.get(), 0, SEEK_SET) != 0) return std::strerror(errno);
  const json::Message message = json::parse_message(line_);
  set_variable("MCP_METHOD", message.method);
  set_variable("MCP_SEQ", std::to_string(sequence_));
  set_variable("MCP_URI", json::string_member(message.params, "uri"));
  set_variable("MCP_SOCKET_PATH", dialogue_.path());
  if (!options_.peer.empty()) set_variable("MCP_NC_PEER", options_.peer);
  set_variable("MCP_NC_KEEP", "1");
  pid_t process = 0;
  const int error = bridge::spawn(process, {"/bin/sh",
                                            {"sh", "-c", options_.exec},
                                            own_environment(),
                                            {{input.get(), STDIN_FILENO}},
                                            {},
                                            true});
  return error == 0 ? await_command(process, has_failed)
                    : fmt::format("cannot run /bin/sh: {}", std::strerror(error));
}

/// Waits for its end, which the time limit or a second signal hastens: SIGTERM to its process
/// group, later SIGKILL.
std::string Handler::await_command(pid_t process, bool& has_failed) {
  Deadline limit = Deadline::after(options_.timeout);
  std::optional<int> ended;
  int sent = 0;
  bool by_signal = false;
  std::string why;
  for (;;) {
    int status = 0;
    // Also what it has left behind, where this is process 1 of a container.
    for (pid_t one; (one = ::waitpid(-1, &status, WNOHANG)) > 0;)
      if (one == process) ended = status;
    if (ended && (sent != SIGTERM || ::kill(-process, 0) != 0)) break;
    pollfd watched[] = {{children_.descriptor(), POLLIN, 0}, {dialogue_.interrupt(), POLLIN, 0}};
    const Deadline until = ended ? Deadline::earlier(limit, Deadline::after(time_of_group)) : limit;
    ::poll(watched, 2, until.poll_timeout());
    while (children_.next() != 0) {
    }
    signalfd_siginfo received{};
    if (watched[1].revents != 0 && ::read(watched[1].fd, &received, sizeof received) > 0) {
      if (!std::exchange(is_ending_, true)) {
        dialogue_.console().note("waiting for the command; another signal ends it");
      } else if (sent == 0) {
        why = "ended by a signal";
        by_signal = true;
        limit = Deadline::after(Milliseconds(0));
      }
    }
    if (!limit.passed()) continue;
    if (why.empty()) why = fmt::format("ran for {}", format_duration(*options_.timeout));
    sent = sent == 0 ? SIGTERM : SIGKILL;
    ::kill(-process, sent);
    limit = Deadline::after(time_to_end);
  }
  if (sent == 0 && output_is_closed()) {
    is_ending_ = true;
    return *ended == 0 ? "" : "the output is not read";
  }
  has_failed = !by_signal;
  return !why.empty() || *ended == 0 ? why : describe_status(*ended);
}

void Handler::pause(Milliseconds time) {
  if (options_.listen_for) time = std::min(time, end_.left());
  pollfd interrupt = {dialogue_.interrupt(), POLLIN, 0};
  if (::poll(&interrupt, 1, static_cast<int>(time.count())) > 0) is_ending_ = true;
}

ExitCode Handler::run() {
  using Outcome = Answer::Outcome;
  if (!options_.dead.empty()) {
    const std::string why = open_dead_letters(options_.dead, dead_letters_);
    if (!why.empty())
      return tell_failure(dialogue_.console(), options_,
                          {"file", fmt::format("cannot use {}: {}", options_.dead, why)});
  }
  bool has_worked = false;
  const bool only_now = options_.listen_for == Milliseconds(0);
  for (std::uint64_t taken = 0; taken != options_.count;) {
    if (!is_handled_ && (is_ending_ || (end_.passed() && !only_now))) break;
    const bool begins = !has_begun_ && !is_handled_;  // what is handled is taken first
    const Answer answer =
        begins        ? begin()
        : is_handled_ ? ask("bridge/take",
                            fmt::format(R"({{"instance":{},"seqs":[{}]}})", instance_, sequence_))
                      : ask("bridge/notifications", next_params(end_.left()));
    // What was sent before an interrupt is read before our end.
    if (answer.outcome == Outcome::interrupted) {
      if (!is_handled_ || std::exchange(is_ending_, true)) break;
      continue;  // it is still taken
    }
    const bool is_fatal =
        answer.outcome == Outcome::too_long || answer.outcome == Outcome::timed_out || !has_worked;
    if (!answer.ok() && is_fatal) return dialogue_.report(answer);
    if (answer.outcome == Outcome::hung_up) {
      has_begun_ = false;
      // A daemon that ends as soon as it was started is not started each second.
      if (std::exchange(hung_up_, true)) pause_longer();
      if (is_ending_ && !is_handled_) break;
      const Outcome outcome = dialogue_.reconnect(time_left());
      if (outcome == Outcome::interrupted && is_handled_ && !std::exchange(is_ending_, true))
        continue;
      if (outcome == Outcome::error) return dialogue_.report(*dialogue_.grant_refusal());
      if (outcome != Outcome::result) break;
    } else if (!answer.ok()) {
      const Failure failure = dialogue_.failure_of(answer);
      dialogue_.note_trouble(failure.shown.empty() ? failure.message : failure.shown);
      pause_longer();
    } else if (begins) {
      has_begun_ = has_worked = true;
    } else if (is_handled_) {
      is_handled_ = hung_up_ = false;
      ++taken;
    } else {
      hung_up_ = false;
      const bool is_one = take_up(answer.payload);
      if (is_one && output_is_closed()) break;
      if (is_one) is_handled_ = handle();
      if (!is_handled_ && end_.passed()) return is_one ? ExitCode::answered_error : ExitCode::ok;
    }
  }
  if (!is_handled_) return ExitCode::ok;
  dialogue_.console().note(fmt::format(
      "notification {}: handled, but the daemon could not be told; it comes again", sequence_));
  return ExitCode::answered_error;
}

}  // namespace

ExitCode handle_notifications(Dialogue& dialogue, const Options& options) {
  ::signal(SIGCHLD, SIG_DFL);  // ignored, as by some parents, it would hide how a command has ended
  end_at_hangup();
  ::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is a failure like a full disk
  return Handler(dialogue, options).run();
}

}  // namespace client
