#include "verbs/relay.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "json/message.hpp"
#include "render/status.hpp"
#include "servers/instance.hpp"
#include "terminal/console.hpp"

namespace client {
namespace {

constexpr std::string_view status_id = "1";

/// A line for a person, if the terminal takes it now: the relay waits for nobody who reads stderr.
void say_if_possible(Console& console, std::string_view line) {
  pollfd error = {STDERR_FILENO, POLLOUT, 0};
  if (::poll(&error, 1, 0) == 1 && error.revents == POLLOUT) console.note(line);
}

}  // namespace

WaitingWatch::WaitingWatch(Milliseconds timeout, Connect connect, Say say)
    : timeout_(timeout), connect_(std::move(connect)), say_(std::move(say)) {}

void WaitingWatch::take_sent(std::string_view bytes) { expect_answer(requests_.take_sent(bytes)); }

void WaitingWatch::take_end_of_sending() { expect_answer(requests_.take_end_of_sending()); }

void WaitingWatch::take_received(std::string_view bytes) {
  requests_.take_received(bytes);
  if (!requests_.empty()) return;
  look_at_.reset();
  look_.reset();
  said_ = false;
}

Deadline WaitingWatch::deadline() const {
  return Deadline::earlier(look_at_.value_or(Deadline()), look_ ? look_until_ : Deadline());
}

void WaitingWatch::wake() {
  if (look_) take_look();
  if (look_ && look_until_.passed()) look_.reset();  // a daemon that does not answer
  if (look_at_ && look_at_->passed()) begin_look();
}

void WaitingWatch::expect_answer(bool is_new) {
  if (is_new && !look_at_ && !said_) look_at_ = Deadline::after(timeout_);
}

void WaitingWatch::begin_look() {
  look_at_.reset();
  look_.reset();
  FileDescriptor daemon = connect_();
  if (!daemon) return;
  look_.emplace(std::move(daemon), -1);
  look_until_ = Deadline::after(timeout_);
  // What waits in the daemon stays there for those who take it.
  look_->queue(json::make_notification("bridge/peek", ""));
  look_->queue(json::make_request(status_id, "bridge/status", ""));
  take_look();
}

void WaitingWatch::take_look() {
  const Deadline at_once = Deadline::after(Milliseconds(0));
  Conversation::Event event = look_->next(at_once);
  for (; event == Conversation::Event::line; event = look_->next(at_once)) {
    const json::Message message = json::parse_message(look_->line());
    if (message.kind != json::Message::Kind::response || message.id != status_id) continue;
    const auto reason = reason_of_wait(message.result);
    look_.reset();
    if (!reason) return;
    look_at_.reset();
    said_ = true;
    return say_("still waiting: " + *reason);
  }
  if (event != Conversation::Event::timed_out) look_.reset();
}

void await_first_line() {
  constexpr int longest_ms = 1000;
  pollfd input = {STDIN_FILENO, POLLIN, 0};
  ::poll(&input, 1, longest_ms);
}

ExitCode run_relay(Connected connected, const Options& options, const TrustedPeer& trusted) {
  Console console;
  std::optional<WaitingWatch> watch;
  if (console.error_is_terminal()) {
    const auto connect = [path = connected.path, trusted]() -> FileDescriptor {
      const Milliseconds at_once(0);
      auto one = connect_to_daemon({path}, trusted, at_once, Deadline::after(at_once));
      if (auto* daemon = std::get_if<Connected>(&one)) return std::move(daemon->daemon);
      return {};
    };
    watch.emplace(waiting_timeout, connect,
                  [&console](std::string_view line) { say_if_possible(console, line); });
  }
  const pid_t process = process_behind(connected.daemon.get());
  const RelayEnd end = relay(STDIN_FILENO, STDOUT_FILENO, std::move(connected.daemon),
                             options.timeout, watch ? &*watch : nullptr);
  const int error = errno;
  switch (end) {
    case RelayEnd::finished:
    case RelayEnd::output_closed: break;
    case RelayEnd::hung_up:
      console.note("the daemon closed the connection: " + describe_end(connected.path, process));
      return ExitCode::unreachable;
    case RelayEnd::timed_out:
      console.note("nothing came in time after the end of the input (-w)");
      return ExitCode::timed_out;
    case RelayEnd::output_failed:
      console.note(fmt::format("cannot write to stdout: {}", std::strerror(error)));
      return ExitCode::answered_error;
  }
  return ExitCode::ok;
}

}  // namespace client
