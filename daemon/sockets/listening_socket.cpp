#include "sockets/listening_socket.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "base/files.hpp"
#include "base/start_error.hpp"
#include "json/arriving_text.hpp"
#include "json/frame.hpp"
#include "json/reply.hpp"
#include "process/process_start.hpp"
#include "process/socket_address.hpp"
#include "sockets/peer_credentials.hpp"

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

/// What the file at a path shows without a connection; nullopt: it is a socket.
std::optional<Probe> look_at_file(const std::string& path) {
  struct stat status {};
  if (lstat(path.c_str(), &status) != 0) return errno == ENOENT ? Probe::absent : Probe::forbidden;
  return S_ISSOCK(status.st_mode) ? std::nullopt : std::optional(Probe::no_socket);
}

/// Checks whether a process serves `name`. Sends bridge/peek, so that another bridge's
/// notifications are not taken.
ProbeResult probe(const std::string& name) {
  if (name.front() != '@') {
    if (const auto seen = look_at_file(name)) return {*seen};
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

[[noreturn]] void refuse_taken(const SocketOptions& socket, const std::string& by) {
  refuse_socket(
      fmt::format("socket {} is already served {}; stop it, or name another socket with {}",
                  socket.path, by, socket.option));
}

constexpr int lock_flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

/// An existing file is opened without O_CREAT, which fs.protected_regular would forbid even root
/// for another user's file in a folder like /tmp. On failure -1 and errno.
int open_lock(const std::string& lock_path) {
  for (;;) {
    int lock = open(lock_path.c_str(), lock_flags);
    if (lock >= 0 || errno != ENOENT) return lock;
    lock = open(lock_path.c_str(), lock_flags | O_CREAT | O_EXCL, 0600);
    if (lock >= 0 || errno != EEXIST) return lock;
  }
}

[[noreturn]] void refuse_lock(const SocketOptions& socket, const std::string& lock_path) {
  const int error = errno;
  struct stat status {};
  const bool is_there = lstat(lock_path.c_str(), &status) == 0;
  refuse_socket(fmt::format("cannot open {}: {}{}; {}name another socket than {} with {}",
                            lock_path, std::strerror(error), other_owner_of(lock_path),
                            is_there ? "have it removed if no daemon uses it, or " : "",
                            socket.path, socket.option));
}

/// Locks PATH.lock, which its holder removes at its end. Returns a descriptor owned by the caller.
int take_socket_lock(const SocketOptions& socket) {
  const std::string lock_path = socket.path + ".lock";
  for (;;) {
    const int lock = open_lock(lock_path);
    if (lock < 0) refuse_lock(socket, lock_path);
    if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
      close(lock);
      const ProbeResult other = probe(socket.path);
      if (other.state == Probe::alive) refuse_taken(socket, holder(other.pid));
      refuse_taken(socket,
                   fmt::format("by another daemon that is starting or ending (it holds {}{})",
                               lock_path, other_owner_of(lock_path)));
    }
    if (is_same_file(lock, lock_path)) return lock;
    close(lock);
  }
}

/// Throws if a process serves it, if it exists and is not a socket, or if it cannot be examined.
/// Returns whether a socket exists that no process serves.
bool refuse_unless_free(const SocketOptions& socket, const ProbeResult& other) {
  const std::string& name = socket.path;
  switch (other.state) {
    case Probe::alive: refuse_taken(socket, holder(other.pid));
    case Probe::forbidden:
      refuse_socket(
          fmt::format("cannot look at socket {}: permission denied{}; name another socket with {}",
                      name, other_owner_of(name), socket.option));
    case Probe::no_socket:
      refuse_socket(fmt::format("{} exists and is not a socket; remove it, or name another with {}",
                                name, socket.option));
    case Probe::stale:
    case Probe::absent: break;
  }
  return other.state == Probe::stale;
}

constexpr int backlog = 512;

std::string why() { return std::strerror(errno); }

/// What to do if the kernel forbids the owner or group.
std::string advice_for_owner(const SocketOptions& socket) {
  return socket.owner && *socket.owner != geteuid()
             ? "only root can use --socket-owner for another user"
             : "the daemon's user must be in the group of --socket-group, or root";
}

}  // namespace

void ListeningSocket::check(const SocketOptions& options) {
  const std::string& path = options.path;
  if (path.empty() || path.front() == '@') return;
  const std::string lock_path = path + ".lock";
  const Descriptor lock(::open(lock_path.c_str(), lock_flags));
  if (!lock && (errno != ENOENT || access(folder_of(path).c_str(), W_OK | X_OK) != 0))
    refuse_lock(options, lock_path);
  if (const auto seen = look_at_file(path)) refuse_unless_free(options, {*seen});
}

ListeningSocket ListeningSocket::open(const SocketOptions& options) {
  const std::string& name = options.path;
  ListeningSocket result;
  result.name_ = name;
  result.options_ = options;
  result.abstract_ = name.front() == '@';
  if (result.abstract_) {
    result.bind_abstract();
    return result;
  }
  result.take_path();
  return result;
}

/// After a failure the destructor releases what was acquired.
void ListeningSocket::take_path() {
  if (lock_ < 0) lock_ = take_socket_lock(options_);
  replaces_stale_ = refuse_unless_free(options_, probe(options_.path));
  publish();
}

bool ListeningSocket::is_published() const {
  struct stat status {};
  return owns_path_ && lstat(name_.c_str(), &status) == 0 && status.st_ino == inode_ &&
         status.st_dev == device_;
}

void ListeningSocket::publish_again() {
  owns_path_ = false;
  if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
  if (lock_ >= 0 && !is_same_file(lock_, name_ + ".lock")) close(std::exchange(lock_, -1));
  try {
    take_path();
  } catch (const StartError&) {
    release_lock();
    throw;
  }
}

void ListeningSocket::bind_abstract() {
  descriptor_ = new_unix_socket();
  const SocketAddress address(name_);
  if (bind(descriptor_, address.get(), address.length) != 0) {
    if (errno == EADDRINUSE) refuse_taken(options_, holder(probe(name_).pid));
    refuse_socket(fmt::format("cannot bind {}: {}", name_, why()));
  }
  if (listen(descriptor_, backlog) != 0)
    refuse_socket(fmt::format("cannot listen on {}: {}", name_, why()));
}

// Bound and listening under a temporary name first, then renamed, so that PATH always has its final
// mode and owner. The folder is opened as a descriptor, so that the longer name fits.
void ListeningSocket::publish() {
  constexpr auto unchanged = static_cast<uid_t>(-1);  // chown(2)
  const uid_t owner = options_.owner.value_or(unchanged);
  const gid_t group = options_.group.value_or(unchanged);
  const std::size_t slash = name_.rfind('/');
  const std::string folder = slash == name_.npos ? "." : name_.substr(0, slash + 1);
  const int folder_descriptor = ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder_descriptor < 0) refuse_socket(fmt::format("cannot open folder {}: {}", folder, why()));
  const std::string own_name = fmt::format(".mcp-{}", getpid());
  const std::string temporary = fmt::format("/proc/self/fd/{}/{}", folder_descriptor, own_name);
  unlinkat(folder_descriptor, own_name.c_str(), 0);

  descriptor_ = new_unix_socket();
  const SocketAddress address(temporary);
  const char* failed = nullptr;
  bool may_not_own = false;
  struct stat status {};
  if (bind(descriptor_, address.get(), address.length) != 0) {
    failed = "bind";
  } else if (fchmodat(folder_descriptor, own_name.c_str(), options_.mode, 0) != 0) {
    failed = "set the mode of";
  } else if (fchownat(folder_descriptor, own_name.c_str(), owner, group, AT_SYMLINK_NOFOLLOW) !=
             0) {
    failed = "set the owner or group of";
    may_not_own = errno == EPERM;
  } else if (listen(descriptor_, backlog) != 0) {
    failed = "listen on";
  } else if (fstatat(folder_descriptor, own_name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
             renameat(folder_descriptor, own_name.c_str(), AT_FDCWD, name_.c_str()) != 0) {
    failed = "rename to";
  }
  const std::string reason = why();
  if (failed != nullptr) unlinkat(folder_descriptor, own_name.c_str(), 0);
  close(folder_descriptor);
  if (failed != nullptr) {
    refuse_socket(
        fmt::format("cannot {} {}: {}{}; {}", failed, name_, reason, other_owner_of(name_),
                    may_not_own ? advice_for_owner(options_)
                                : fmt::format("name another socket with {}", options_.option)));
  }
  device_ = status.st_dev;
  inode_ = status.st_ino;
  owns_path_ = true;
}

std::string name_of_socket(int descriptor) {
  sockaddr_un address{};
  socklen_t length = sizeof address;
  getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length);
  const std::size_t path_length = length - offsetof(sockaddr_un, sun_path);
  const bool is_abstract = path_length > 0 && address.sun_path[0] == '\0';
  return is_abstract ? "@" + std::string(address.sun_path + 1, path_length - 1)
                     : std::string(address.sun_path);
}

ListeningSocket ListeningSocket::passed(int descriptor) {
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
  ListeningSocket result;
  result.descriptor_ = descriptor;
  result.name_ = name_of_socket(descriptor);
  result.abstract_ = result.name_.starts_with('@');
  return result;
}

ListeningSocket ListeningSocket::restored(const Saved& saved, const SocketOptions& options) {
  ListeningSocket result;
  result.name_ = saved.name;
  result.options_ = options;
  result.descriptor_ = saved.descriptor;
  result.lock_ = saved.lock;
  result.abstract_ = saved.abstract;
  result.owns_path_ = saved.owns_path;
  result.device_ = saved.device;
  result.inode_ = saved.inode;
  return result;
}

ListeningSocket::ListeningSocket(ListeningSocket&& other) noexcept
    : name_(std::move(other.name_)),
      options_(std::move(other.options_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      lock_(std::exchange(other.lock_, -1)),
      abstract_(other.abstract_),
      owns_path_(std::exchange(other.owns_path_, false)),
      replaces_stale_(other.replaces_stale_),
      device_(other.device_),
      inode_(other.inode_) {}

ListeningSocket::~ListeningSocket() {
  if (descriptor_ >= 0) close(descriptor_);
  if (is_published()) unlink(name_.c_str());
  release_lock();
}

void ListeningSocket::release_lock() {
  if (lock_ < 0) return;
  // After a removal by hand it may be another daemon's.
  if (is_same_file(lock_, name_ + ".lock")) unlink((name_ + ".lock").c_str());
  close(std::exchange(lock_, -1));
}

int ListeningSocket::take_descriptor() { return std::exchange(descriptor_, -1); }

namespace {

constexpr int first_passed = 3;  // SD_LISTEN_FDS_START

/// In their order, by descriptor. nullopt: a socket that is not expected.
std::optional<PassedSockets> look_at_passed() {
  PassedSockets found;
  const char* const pid = std::getenv("LISTEN_PID");
  const char* const count = std::getenv("LISTEN_FDS");
  if (pid == nullptr || count == nullptr || std::to_string(getpid()) != pid) return found;
  int sockets = 0;
  std::from_chars(count, count + std::strlen(count), sockets);  // without a number: none
  const char* const given = std::getenv("LISTEN_FDNAMES");
  std::string_view names = given == nullptr ? "" : given;
  for (int descriptor = first_passed; descriptor - first_passed < sockets; ++descriptor) {
    const std::string_view name = names.substr(0, names.find(':'));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    std::optional<int>& place = name == "http" ? found.http : found.clients;
    if (place || !is_unix_socket(descriptor)) return std::nullopt;
    place = descriptor;
  }
  return found;
}

}  // namespace

PassedSockets take_passed_sockets() {
  const auto found = look_at_passed();
  for (const char* name : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) unsetenv(name);
  if (!found) {
    refuse_socket(
        "socket activation: exactly one Unix stream socket is expected (ListenStream=PATH), and "
        "one for the HTTP frontend (FileDescriptorName=http)");
  }
  return *found;
}

namespace {

/// Bounds of bytes read from a client, and of clients: as many as systemd queues for our unit.
constexpr std::size_t most_read = 64 << 10;
constexpr int most_clients = 512;

std::string reason(int exit_code) {
  const std::string unit = own_unit();
  return fmt::format("mcp-bridged cannot start (exit status {}): see its log: journalctl -u {}",
                     exit_code, unit.empty() ? "'mcp-bridged*'" : unit);
}

void refuse_http(int client) {
  static constexpr std::string_view answer =
      "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
  send(client, answer.data(), answer.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

void refuse(int client, const Failure& failure) {
  std::string sent(most_read, '\0');
  const ssize_t count = recv(client, sent.data(), sent.size(), MSG_DONTWAIT);
  std::string answers;
  LineSplitter lines(most_read);
  std::string_view chunk(sent.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  while (auto line = lines.next(chunk)) {
    auto* const whole = std::get_if<ReceivedText>(&*line);
    if (whole == nullptr) continue;
    const auto parsed = parse_frame(std::move(whole->bytes));
    const Frame* frame = std::get_if<Frame>(&parsed);
    if (frame != nullptr && frame->is_request())
      answers += error_reply(frame->text(frame->id), failure) + "\n";
  }
  if (answers.empty()) answers = error_reply("null", failure) + "\n";
  send(client, answers.data(), answers.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace

StartRefusal::StartRefusal() {
  const PassedSockets passed = look_at_passed().value_or(PassedSockets{});
  const auto duplicate = [](std::optional<int> descriptor) {
    if (descriptor) descriptor = fcntl(*descriptor, F_DUPFD_CLOEXEC, first_passed + 2);
    return descriptor;
  };
  listeners_ = {duplicate(passed.clients), duplicate(passed.http)};
}

StartRefusal::~StartRefusal() {
  for (const auto& listener : {listeners_.clients, listeners_.http}) {
    if (listener) close(*listener);
  }
}

void StartRefusal::tell_waiting_clients(int exit_code) const {
  const Failure failure = failure_of(ErrorKind::shutdown, Delivered::no, reason(exit_code));
  for (const auto& listener : {listeners_.clients, listeners_.http}) {
    if (!listener) continue;
    fcntl(*listener, F_SETFL, fcntl(*listener, F_GETFL) | O_NONBLOCK);
    for (int told = 0; told < most_clients; ++told) {
      const int client = accept4(*listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (client < 0) break;
      if (listener == listeners_.http) {
        refuse_http(client);
      } else {
        refuse(client, failure);
      }
      close(client);
    }
  }
}

}  // namespace bridge
