#include "control/supervisor.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "process/socket_address.hpp"

namespace bridge {

std::string describe_state(Session::State state, std::string_view target,
                           const std::optional<Failure>& failure) {
  const std::string why = failure ? ": " + failure->message : std::string();
  switch (state) {
    case Session::State::idle: return fmt::format("No session with {}, none is needed", target);
    case Session::State::opening: return fmt::format("Opening a session with {}", target);
    case Session::State::open: return fmt::format("In session with {}", target);
    case Session::State::reopening:
      return fmt::format("Opening the lost session with {} again", target);
    case Session::State::waiting:
      return fmt::format("Cannot reach {}, trying again{}", target, why);
    case Session::State::refused: return fmt::format("Refused by {}{}", target, why);
  }
  return {};
}

void IdleExit::look() {
  if (options_.exit.count() == 0 || !end_) return;
  const Activity now = activity_();
  if (now.is_busy) {
    idle_since_.reset();
    timer_.clear();
    return;
  }
  if (!idle_since_) idle_since_ = loop_.now();
  timer_.set(due(now));
}

SteadyTime IdleExit::due(const Activity& now) const {
  constexpr std::chrono::milliseconds longest_of_no_use = std::chrono::minutes(1);
  return *idle_since_ +
         (now.is_of_no_use ? std::min(options_.exit, longest_of_no_use) : options_.exit) +
         (now.has_untaken ? options_.keep : std::chrono::milliseconds(0));
}

void IdleExit::expired() {
  const Activity now = activity_();
  if (now.is_busy || !idle_since_ || due(now) > loop_.now()) return;  // look() follows
  std::exchange(end_, nullptr)();
}

std::optional<NotifySocket> NotifySocket::open(std::string_view address) {
  constexpr std::size_t longest = 107;  // unix(7): sun_path less the final zero
  const bool is_named = address.starts_with('/') || address.starts_with('@');
  if (!is_named || address.size() < 2 || address.size() > longest) return std::nullopt;
  const int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return std::nullopt;
  return NotifySocket(descriptor, std::string(address));
}

NotifySocket::NotifySocket(NotifySocket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), address_(std::move(other.address_)) {}

NotifySocket::~NotifySocket() {
  if (descriptor_ >= 0) close(descriptor_);
}

// Not connected permanently: the manager has another socket after it was re-executed.
NotifySocket::Sent NotifySocket::send(std::string_view lines) const {
  const SocketAddress address(address_);
  for (;;) {
    const ssize_t count = sendto(descriptor_, lines.data(), lines.size(), MSG_NOSIGNAL,
                                 address.get(), address.length);
    if (count >= 0) return Sent::yes;
    if (errno == EINTR) continue;
    return errno == EAGAIN || errno == ENOBUFS ? Sent::later : Sent::failed;
  }
}

namespace {

constexpr std::chrono::milliseconds pause_while_full{100};
constexpr std::size_t most_unsent = 4096;
constexpr std::size_t longest_status = 300;
constexpr const char* variables[] = {"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"};

std::optional<std::int64_t> number_of(const char* text) {
  if (text == nullptr) return std::nullopt;
  const char* const end = text + std::strlen(text);
  std::int64_t number = 0;
  const auto [rest, error] = std::from_chars(text, end, number);
  return error == std::errc() && rest == end && number > 0 ? std::optional(number) : std::nullopt;
}

/// RELOADING=1 must carry this time, so that the manager can tell it from an older one.
std::int64_t monotonic_microseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1000;
}

}  // namespace

Supervision take_supervision() {
  Supervision supervision;
  if (const char* address = std::getenv("NOTIFY_SOCKET")) supervision.notify_socket = address;
  const char* const pid = std::getenv("WATCHDOG_PID");
  const bool is_ours = pid == nullptr || number_of(pid) == getpid();
  if (const auto limit = number_of(std::getenv("WATCHDOG_USEC")); limit && is_ours) {
    supervision.watchdog = std::chrono::microseconds(*limit);
  }
  for (const char* name : variables) unsetenv(name);
  return supervision;
}

Supervisor::Supervisor(EventLoop& loop, Supervision supervision, Log& log)
    : log_(log),
      send_again_(loop, [this] { send(); }),
      next_beat_(loop, [this] { feed_watchdog(); }) {
  if (supervision.notify_socket.empty()) return;
  if (auto socket = NotifySocket::open(supervision.notify_socket)) {
    socket_.emplace(std::move(*socket));
  } else {
    log_.event(LogLevel::warning, "notify socket",
               "NOTIFY_SOCKET: '{}' is not a writable socket; the service manager is not notified",
               printable(supervision.notify_socket));
    return;
  }
  if (supervision.watchdog) {
    using std::chrono::milliseconds;
    beat_ = std::max(std::chrono::duration_cast<milliseconds>(*supervision.watchdog / 2),
                     milliseconds(1));
  }
}

void Supervisor::ready() {
  tell("READY=1");
  if (socket_ && beat_) next_beat_.set_after(*beat_);
}

void Supervisor::reloading() {
  tell(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", monotonic_microseconds()));
}

void Supervisor::reloaded() { tell("READY=1"); }

void Supervisor::stopping(std::chrono::milliseconds timeout) {
  tell(fmt::format("STOPPING=1\nEXTEND_TIMEOUT_USEC={}",
                   std::chrono::duration_cast<std::chrono::microseconds>(timeout).count()));
}

void Supervisor::status(std::string_view text) {
  if (!socket_) return;
  std::string line = printable(text, longest_status);
  if (line == status_) return;
  status_ = std::move(line);
  tell("STATUS=" + status_);
}

void Supervisor::feed_watchdog() {
  tell("WATCHDOG=1");
  next_beat_.set_after(*beat_);
}

void Supervisor::tell(std::string_view lines) {
  if (!socket_) return;
  if (unsent_.size() + lines.size() >= most_unsent) unsent_.clear();
  if (!unsent_.empty()) unsent_ += '\n';
  unsent_ += lines;
  if (!send_again_.is_set()) send();
}

void Supervisor::send() {
  switch (socket_->send(unsent_)) {
    case NotifySocket::Sent::yes: break;
    case NotifySocket::Sent::later: send_again_.set_after(pause_while_full); return;
    case NotifySocket::Sent::failed:
      log_.peer(LogLevel::warning, "service manager", "cannot notify the service manager: {}",
                std::strerror(errno));
      break;
  }
  unsent_.clear();
}

}  // namespace bridge
