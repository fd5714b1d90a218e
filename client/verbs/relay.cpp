#include "verbs/relay.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <array>
#include <cstring>

#include "render/status.hpp"
#include "servers/instance.hpp"
#include "text/visible_text.hpp"

namespace client {
namespace {

constexpr std::size_t relay_chunk_size = std::size_t{64} * 1024;
constexpr Milliseconds longest_connecting{100};  // what is relayed waits meanwhile

class Relay {
 public:
  Relay(int input, int output, DaemonStream daemon, std::optional<Milliseconds> idle,
        RelayObserver* observer, std::string_view received)
      : input_(input),
        output_(output),
        daemon_(std::move(daemon)),
        idle_(idle),
        observer_(observer),
        is_terminal_(::isatty(output) == 1),
        chunk_(std::make_unique_for_overwrite<char[]>(relay_chunk_size)),
        received_(std::make_unique_for_overwrite<char[]>(relay_chunk_size)) {
    if (!received.empty()) take_received(received);
  }

  RelayEnd run() {
    while (!end_) {
      if (daemon_done_ && to_output_.empty())
        return sending_done_ ? RelayEnd::finished : RelayEnd::hung_up;
      wait();
    }
    return *end_;
  }

 private:
  using Watched = std::array<pollfd, 5>;

  // A descriptor without wanted events is not polled at all: its hang-up would be reported
  // repeatedly. The output is always polled, so that its closing is noticed at once.
  void wait() {
    const bool read_input = !input_done_ && to_daemon_.empty();
    const bool read_daemon = !daemon_done_ && to_output_.empty();
    Watched watched = {
        pollfd{read_input ? input_ : -1, POLLIN, 0},
        pollfd{read_daemon ? daemon_.get() : -1, POLLIN, 0},
        pollfd{output_.descriptor(), static_cast<short>(to_output_.empty() ? 0 : POLLOUT), 0},
        pollfd{observer_ != nullptr ? observer_->descriptor() : -1, POLLIN, 0},
        pollfd{to_daemon_.empty() ? -1 : daemon_.sending(), POLLOUT, 0}};
    const Deadline observers = observer_ != nullptr ? observer_->deadline() : Deadline();
    const int ready = ::poll(watched.data(), watched.size(),
                             Deadline::earlier(idle_deadline_, observers).poll_timeout());
    if (ready == 0 && idle_deadline_.passed()) end_ = RelayEnd::timed_out;
    if (ready > 0) carry(watched);
    // Last, since the observer may wait for what has just arrived.
    if (ready >= 0 && (watched[3].revents != 0 || observers.passed())) observer_->wake();
  }

  void carry(const Watched& watched) {
    if (watched[2].revents & POLLOUT) {
      write_output();
    } else if (watched[2].revents != 0) {
      end_ = RelayEnd::output_closed;
    }
    if (watched[1].revents != 0) receive();
    if (watched[4].revents != 0) send_to_daemon();
    if (watched[0].revents != 0) read_input_chunk();
  }

  void read_input_chunk() {
    const ssize_t count = ::read(input_, chunk_.get(), relay_chunk_size);
    if (count > 0) {
      to_daemon_ = std::string_view(chunk_.get(), static_cast<std::size_t>(count));
      if (observer_ != nullptr) observer_->take_sent(to_daemon_);
      send_to_daemon();
    } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
      finish_sending();
    }
  }

  void finish_sending() {
    input_done_ = true;
    sending_done_ = true;
    daemon_.finish_sending();
    if (observer_ != nullptr) observer_->take_sent("\n");
    restart_idle();
  }

  void send_to_daemon() {
    if (daemon_.send(to_daemon_)) return;
    // The daemon accepts no more, but what it has written before can still be read.
    to_daemon_ = {};
    input_done_ = true;
  }

  void receive() {
    const auto count = daemon_.receive(received_.get(), relay_chunk_size);
    if (count && *count > 0) {
      take_received(std::string_view(received_.get(), *count));
      restart_idle();
    } else if (!count) {
      daemon_done_ = true;
      to_output_ = visible_text_ = visible_.finish();
    }
  }

  void take_received(std::string_view bytes) {
    to_output_ = bytes;
    if (observer_ != nullptr) observer_->take_received(to_output_);
    if (is_terminal_) to_output_ = visible_text_ = visible_.feed(to_output_);
  }

  void write_output() {
    std::size_t written = 0;
    const Sink::Result result = output_.write_some(to_output_, written);
    to_output_.remove_prefix(written);
    if (result == Sink::Result::closed) end_ = RelayEnd::output_closed;
    if (result == Sink::Result::failed) end_ = RelayEnd::output_failed;
  }

  void restart_idle() {
    if (sending_done_) idle_deadline_ = Deadline::after(idle_);
  }

  int input_;
  Sink output_;
  DaemonStream daemon_;
  std::optional<Milliseconds> idle_;
  RelayObserver* observer_;
  bool is_terminal_;

  std::unique_ptr<char[]> chunk_;     // from the input
  std::string_view to_daemon_;        // the part of chunk_ not sent yet
  std::unique_ptr<char[]> received_;  // from the daemon
  bridge::VisibleText visible_;
  std::string visible_text_;    // received_ made visible for a terminal
  std::string_view to_output_;  // the part of received_ or visible_text_ not yet written

  bool input_done_ = false;
  bool sending_done_ = false;  // half-closed by us, after all of the input
  bool daemon_done_ = false;
  Deadline idle_deadline_;
  std::optional<RelayEnd> end_;
};

constexpr std::string_view status_id = "1";

/// Why nothing may be relayed; "" = the grant is accepted.
[[gnu::cold]] std::string why_refused(const GrantUse& use) {
  using Event = Conversation::Event;
  if (use.is_accepted) return {};
  if (use.end == Event::timed_out) return "timed out";
  if (use.end == Event::too_long)
    return fmt::format("the daemon sent more than {} MiB before its response",
                       Conversation::longest_line >> 20);
  if (use.end != Event::line) return "the daemon closed the connection";
  const std::string why = json::string_member(json::parse_message(use.response).error, "message");
  return why.empty() ? "it is refused" : why;
}

}  // namespace

RelayEnd relay(int input, int output, DaemonStream daemon, std::optional<Milliseconds> idle,
               RelayObserver* observer, std::string_view received) {
  return Relay(input, output, std::move(daemon), idle, observer, received).run();
}

bool UnansweredRequests::take_sent(std::string_view bytes) {
  split(sent_, bytes);
  return std::exchange(has_new_, false);
}

void UnansweredRequests::take_received(std::string_view bytes) { split(received_, bytes); }

void UnansweredRequests::split(Line& line, std::string_view bytes) {
  for (std::size_t end = bytes.find('\n'); end != bytes.npos; end = bytes.find('\n')) {
    end_line(line, bytes.substr(0, end));
    bytes.remove_prefix(end + 1);
  }
  if (line.is_too_long) return;
  if (line.begun.size() + bytes.size() > longest_line) {
    line = {{}, true};
  } else {
    line.begun += bytes;
  }
}

void UnansweredRequests::end_line(Line& line, std::string_view rest) {
  const bool is_sent = &line == &sent_;
  Line ended = std::exchange(line, {});
  if (ended.is_too_long || ended.begun.size() + rest.size() > longest_line) {
    if (!is_sent) ids_.clear();  // the request that it answered is unknown
    return;
  }
  if (!ended.begun.empty()) rest = ended.begun.append(rest);
  const std::size_t begin = rest.find_first_not_of(" \t\r");
  if (begin == rest.npos) return;
  if (rest[begin] != '[') return take_message(rest, is_sent);
  if (const auto batch = json::elements(rest)) {
    for (const std::string_view message : *batch) take_message(message, is_sent);
  }
}

void UnansweredRequests::take_message(std::string_view text, bool is_sent) {
  using Kind = json::Message::Kind;
  const json::Message message = json::parse_message(text);
  if (is_sent && message.kind == Kind::request) {
    if (message.id.size() > longest_id || ids_.size() >= most_requests) return;
    ids_.emplace(message.id);
    has_new_ = true;
  } else if (is_sent && message.method == "notifications/cancelled") {
    // No response need come.
    ids_.erase(std::string(json::find_member(message.params, "requestId").value_or("")));
  } else if (!is_sent && message.kind == Kind::response) {
    ids_.erase(std::string(message.id));
    // A line that the daemon refused, without saying which.
    if (message.id.empty() || message.id == "null") ids_.clear();
  }
}

WaitingWatch::WaitingWatch(Milliseconds timeout, Connect connect, Say say)
    : timeout_(timeout), connect_(std::move(connect)), say_(std::move(say)) {}

void WaitingWatch::take_sent(std::string_view bytes) {
  if (requests_.take_sent(bytes) && !look_at_ && !said_) look_at_ = Deadline::after(timeout_);
}

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
  if (look_ && look_until_.passed()) look_.reset();  // the daemon does not respond
  if (look_at_ && look_at_->passed()) begin_look();
}

void WaitingWatch::begin_look() {
  look_at_.reset();
  look_.reset();
  DaemonStream daemon = connect_();
  if (!daemon) return;
  look_.emplace(std::move(daemon), -1);
  look_until_ = Deadline::after(timeout_);
  // Notifications in the daemon stay there for other clients.
  look_->queue(bridge::own_notification("bridge/peek", ""));
  look_->queue(bridge::own_request(status_id, "bridge/status", ""));
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
    const auto connect = [path = connected.path, trusted]() -> DaemonStream {
      auto one =
          connect_to_daemon({path}, trusted, Milliseconds(0), Deadline::after(longest_connecting));
      if (auto* daemon = std::get_if<Connected>(&one)) return std::move(daemon->daemon);
      return {};
    };
    watch.emplace(waiting_timeout, connect, [&console](std::string_view line) {
      pollfd error = {STDERR_FILENO, POLLOUT, 0};  // the relay does not wait for its reader
      if (::poll(&error, 1, 0) == 1 && error.revents == POLLOUT) console.note(line);
    });
  }
  Conversation conversation(std::move(connected.daemon), -1);
  const auto grant = use_grant(conversation, Deadline::after(options.timeout));
  auto [daemon, received] = std::move(conversation).release();
  if (const std::string why = grant ? why_refused(*grant) : ""; !why.empty()) {
    console.print(received);
    console.note("MCP_NC_GRANT: " + why);
    return ExitCode::answered_error;
  }
  const pid_t process = process_behind(daemon.get());
  const RelayEnd end = relay(STDIN_FILENO, STDOUT_FILENO, std::move(daemon), options.timeout,
                             watch ? &*watch : nullptr, received);
  const int error = errno;
  switch (end) {
    case RelayEnd::finished:
    case RelayEnd::output_closed: break;
    case RelayEnd::hung_up:
      console.note("the daemon closed the connection: " + describe_end(connected.path, process));
      return ExitCode::unreachable;
    case RelayEnd::timed_out:
      console.note(fmt::format("timed out: no data for {} after the end of the input (-w)",
                               format_duration(options.timeout.value_or(Milliseconds(0)))));
      return ExitCode::timed_out;
    case RelayEnd::output_failed:
      console.note(fmt::format("cannot write to stdout: {}", std::strerror(error)));
      return ExitCode::answered_error;
  }
  return ExitCode::ok;
}

}  // namespace client
