#include "downstream/unix/socket_claim.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/start_error.hpp"
#include "downstream/unix/peer_credentials.hpp"
#include "process/socket_address.hpp"

namespace bridge {

void refuse_socket(const std::string& message) {
  throw StartError(exit_code::cannot_bind, message);
}

int new_unix_socket() {
  const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0)
    refuse_socket(std::string("cannot make a Unix socket: ") + std::strerror(errno));
  return descriptor;
}

bool is_same_file(int descriptor, const std::string& path) {
  struct stat held {};
  struct stat named {};
  return fstat(descriptor, &held) == 0 && lstat(path.c_str(), &named) == 0 &&
         held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

std::string other_owner_of(const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0 || status.st_uid == geteuid()) return {};
  return fmt::format(" (it belongs to uid {})", status.st_uid);
}

namespace {

enum class Probe { alive, stale, absent, forbidden, no_socket };

struct ProbeResult {
  Probe state;
  pid_t pid = 0;
};

/// Looks whether somebody serves `name`. Says bridge/peek, so that another bridge's notifications
/// are not spent on it.
ProbeResult probe(const std::string& name) {
  if (name.front() != '@') {
    struct stat status {};
    if (lstat(name.c_str(), &status) != 0)
      return {errno == ENOENT ? Probe::absent : Probe::forbidden};
    if (!S_ISSOCK(status.st_mode)) return {Probe::no_socket};
  }
  const int descriptor = new_unix_socket();
  const SocketAddress address(name);
  ProbeResult result{Probe::alive};
  if (connect(descriptor, address.get(), address.length) == 0) {
    if (const auto peer = peer_credentials(descriptor)) result.pid = peer->pid;
    static constexpr char peek[] = "{\"jsonrpc\":\"2.0\",\"method\":\"bridge/peek\"}\n";
    send(descriptor, peek, sizeof peek - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
  } else if (errno == EACCES || errno == EPERM) {
    result.state = Probe::forbidden;
  } else if (errno == ECONNREFUSED) {
    result.state = Probe::stale;
  } else if (errno == ENOENT) {
    result.state = Probe::absent;
  }  // EAGAIN: its queue is full, so it is alive
  close(descriptor);
  return result;
}

std::string holder(pid_t pid) {
  return pid > 0 ? fmt::format("by process {}", pid)
                 : std::string("by a process in another container");
}

[[noreturn]] void refuse_taken(const std::string& name, const std::string& by) {
  refuse_socket(fmt::format(
      "socket {} is already served {}; stop it, or name another socket with --socket", name, by));
}

/// What is there is opened without O_CREAT, which fs.protected_regular would forbid even root for
/// another user's file in a folder like /tmp. -1 and errno if it cannot be had.
int open_lock(const std::string& lock_path) {
  constexpr int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  for (;;) {
    int lock = open(lock_path.c_str(), flags);
    if (lock >= 0 || errno != ENOENT) return lock;
    lock = open(lock_path.c_str(), flags | O_CREAT | O_EXCL, 0600);
    if (lock >= 0 || errno != EEXIST) return lock;
  }
}

[[noreturn]] void refuse_lock(const std::string& path, const std::string& lock_path) {
  const int error = errno;
  struct stat status {};
  const bool is_there = lstat(lock_path.c_str(), &status) == 0;
  refuse_socket(fmt::format("cannot open {}: {}{}; {}name another socket than {} with --socket",
                            lock_path, std::strerror(error), other_owner_of(lock_path),
                            is_there ? "have it removed if no daemon uses it, or " : "", path));
}

}  // namespace

int take_socket_lock(const std::string& path) {
  const std::string lock_path = path + ".lock";
  for (;;) {
    const int lock = open_lock(lock_path);
    if (lock < 0) refuse_lock(path, lock_path);
    if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
      close(lock);
      const ProbeResult other = probe(path);
      if (other.state == Probe::alive) refuse_taken(path, holder(other.pid));
      refuse_taken(path, fmt::format("by another daemon that is starting or ending (it holds {}{})",
                                     lock_path, other_owner_of(lock_path)));
    }
    if (is_same_file(lock, lock_path)) return lock;
    close(lock);
  }
}
void refuse_served(const std::string& name) { refuse_taken(name, holder(probe(name).pid)); }

bool refuse_unless_free(const std::string& name) {
  const ProbeResult other = probe(name);
  switch (other.state) {
    case Probe::alive: refuse_taken(name, holder(other.pid));
    case Probe::forbidden:
      refuse_socket(fmt::format(
          "cannot look at socket {}: permission denied{}; name another socket with --socket", name,
          other_owner_of(name)));
    case Probe::no_socket:
      refuse_socket(fmt::format(
          "{} exists and is not a socket; remove it, or name another with --socket", name));
    case Probe::stale:
    case Probe::absent: break;
  }
  return other.state == Probe::stale;
}

}  // namespace bridge
