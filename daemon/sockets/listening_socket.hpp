#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sockets/path_keeper.hpp"

namespace bridge {

// Ownership of a socket's path: the lock beside it, and whether a process serves it (BEHAVIOUR,
// "Socket"). Errors: StartError with what to do.

[[noreturn]] void refuse_socket(const std::string& message);

/// Whether `path` still names the file that the descriptor has open, not a later one.
bool is_same_file(int descriptor, const std::string& path);
/// The owner of an obstructing file, if it is another user: " (it belongs to uid 1000)".
std::string other_owner_of(const std::string& path);
/// A new descriptor, owned by the caller.
int new_unix_socket();

/// The path that a Unix socket is bound to, or its abstract name after `@`.
std::string name_of_socket(int descriptor);

/// The longest path of a Unix socket (unix(7): sun_path without the final zero).
constexpr std::size_t max_socket_path = 107;

struct SocketOptions {
  /// `@name` for an abstract socket. REQUIRES: neither empty nor over max_socket_path.
  std::string path = "/tmp/mcp.sock";
  mode_t mode = 0600;
  std::optional<uid_t> owner;  ///< none: the daemon's user
  std::optional<gid_t> group;
  std::string_view option = "--socket";  ///< for messages; a literal
};

/// The listening Unix socket, created safely (BEHAVIOUR, "Socket").
///
/// A path has its final mode and owner before clients can connect to it, under a lock on PATH.lock
/// that is held for its lifetime. A live socket is never replaced, and only sockets are ever
/// removed. The destructor removes the path and the lock if they are still this socket and
/// lock. Owned by UnixClients or HttpFrontend, into which it is moved; the loop's thread only.
/// Errors: StartError.
class ListeningSocket final : public PublishedPath {
 public:
  /// Throws StartError (73).
  static ListeningSocket open(const SocketOptions& options);
  /// The errors of open() that can be seen before it, for --check. Takes and changes nothing; that
  /// a daemon serves the socket is not an error.
  static void check(const SocketOptions& options);
  /// A socket passed by a service manager. It is never unlinked.
  static ListeningSocket passed(int descriptor);

  /// The socket, its lock and the identity of its path; the descriptors keep their owners.
  struct Saved {
    std::string name;
    int descriptor = -1;
    int lock = -1;
    bool abstract = false;
    bool owns_path = false;
    dev_t device = 0;
    ino_t inode = 0;

    template <class A>
    void each_field(A& archive) {
      archive(name, descriptor, lock, abstract, owns_path, device, inode);
    }
  };
  /// The socket of the previous process, unchanged.
  static ListeningSocket restored(const Saved& saved, const SocketOptions& options);
  /// `descriptor` is the one returned by take_descriptor().
  Saved save(int descriptor) const {
    return {name_, descriptor, lock_, abstract_, owns_path_, device_, inode_};
  }

  ListeningSocket(ListeningSocket&& other) noexcept;
  ListeningSocket& operator=(ListeningSocket&&) = delete;
  ~ListeningSocket();

  /// Whether it was created at its path; false if it was inherited or is abstract.
  bool owns_path() const override { return owns_path_; }
  /// Whether it replaced a socket left behind by a daemon, such as a killed one.
  bool replaces_stale() const { return replaces_stale_; }
  bool is_published() const override;
  /// take_descriptor() then returns the new one.
  void publish_again() override;
  std::string_view noun() const override { return "socket"; }
  /// Passes the descriptor to the caller, who closes it; this object still removes the path.
  int take_descriptor();
  bool is_abstract() const { return abstract_; }
  const std::string& name() const override { return name_; }

 private:
  ListeningSocket() = default;
  void take_path();
  void publish();
  void release_lock();
  void bind_abstract();

  std::string name_;
  SocketOptions options_;
  int descriptor_ = -1;
  int lock_ = -1;
  bool abstract_ = false;
  bool owns_path_ = false;
  bool replaces_stale_ = false;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

/// The sockets that a service manager has passed (LISTEN_FDS, sd_listen_fds(3)): one named `http`
/// is the HTTP frontend's, one of any other name is the clients'.
struct PassedSockets {
  std::optional<int> clients;
  std::optional<int> http;
};
/// Removes the variables that name them. Throws StartError (73) for other sockets, or more.
PassedSockets take_passed_sockets();

/// The clients waiting on a service manager's sockets while the daemon starts (socket activation,
/// sd_listen_fds(3)). If the start fails they get an error and are disconnected: otherwise systemd,
/// which sees them still waiting, would start the daemon again at once with the same fault, until
/// it gives up the socket.
///
/// Owns duplicates of the passed sockets during its lifetime. Never throws.
class StartRefusal {
 public:
  /// REQUIRES: they were not taken yet (take_passed_sockets()).
  StartRefusal();
  StartRefusal(const StartRefusal&) = delete;
  StartRefusal& operator=(const StartRefusal&) = delete;
  ~StartRefusal();

  /// Answers the requests that each waiting client has sent with an error that refers to the log
  /// and does not say what is wrong: fewer users may read the log. Without a request the error has
  /// a null id. HTTP callers get a 503. Never waits.
  void tell_waiting_clients(int exit_code) const;

 private:
  PassedSockets listeners_;
};

}  // namespace bridge
