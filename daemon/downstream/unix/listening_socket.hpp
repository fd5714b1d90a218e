#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace bridge {

// Whose a socket's path is: the lock beside it, and whether somebody serves it (BEHAVIOUR,
// "Socket"). At the start, and when it is published again. All throw StartError with what to do.

/// Locks PATH.lock, which its holder removes at its end. Returns the descriptor, the caller's.
int take_socket_lock(const std::string& path);
/// Throws if somebody serves it, or what is there is no socket, or cannot be looked at. Returns
/// whether a socket is there that nobody serves.
bool refuse_unless_free(const std::string& name);
/// Throws: somebody serves it.
[[noreturn]] void refuse_served(const std::string& name);
[[noreturn]] void refuse_socket(const std::string& message);

/// Whether `path` names what the descriptor is open on, and not what somebody has put there since.
bool is_same_file(int descriptor, const std::string& path);
/// Who owns what stands in the way, if somebody else does: " (it belongs to uid 1000)".
std::string other_owner_of(const std::string& path);
/// A descriptor, the caller's.
int new_unix_socket();

/// The longest path of a Unix socket (unix(7): sun_path less the final zero).
constexpr std::size_t max_socket_path = 107;

struct SocketOptions {
  /// `@name` for an abstract socket. REQUIRES: neither empty nor over max_socket_path.
  std::string path = "/tmp/mcp.sock";
  mode_t mode = 0600;
  std::optional<uid_t> owner;  ///< none: the daemon's
  std::optional<gid_t> group;
};

/// The listening Unix socket, had safely (BEHAVIOUR, "Socket").
///
/// A path gets its final mode and owner before it can be connected to, under a lock on PATH.lock
/// that is kept for life. A live socket is never stolen, and nothing that is not a socket is ever
/// removed. The destructor removes the path and the lock as far as they are still this very socket
/// and lock. Owned by UnixClients, which it is moved into; the loop's thread only. What fails
/// throws StartError.
class ListeningSocket {
 public:
  /// Throws StartError (73).
  static ListeningSocket open(const SocketOptions& options);
  /// The socket that a service manager passed (LISTEN_FDS, sd_listen_fds(3)), if there is one.
  /// It is never unlinked.
  static std::optional<ListeningSocket> inherited();

  /// The socket, its lock and what its path is known by; the descriptors stay whose they are.
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
  /// The socket that the previous process had, which is as it was.
  static ListeningSocket restored(const Saved& saved, const SocketOptions& options);
  /// `descriptor` is the one that was taken.
  Saved save(int descriptor) const {
    return {name_, descriptor, lock_, abstract_, owns_path_, device_, inode_};
  }

  ListeningSocket(ListeningSocket&& other) noexcept;
  ListeningSocket& operator=(ListeningSocket&&) = delete;
  ~ListeningSocket();

  /// Whether it was made at its path; not if it was inherited or is abstract.
  bool owns_path() const { return owns_path_; }
  /// Whether it took the place of a socket that its daemon had not removed, as one that is killed.
  bool replaces_stale() const { return replaces_stale_; }
  /// Whether its own path leads to this very socket.
  bool is_published() const;
  /// Makes another socket at the path, as open() did. Throws StartError (73); then there is none.
  /// REQUIRES: open() made this, and not for an abstract name.
  void publish_again();
  /// Gives the descriptor to the caller, who closes it; removing the path stays here.
  int take_descriptor();
  bool is_abstract() const { return abstract_; }
  const std::string& name() const { return name_; }

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

/// The clients that a service manager's socket holds while the daemon starts (socket activation,
/// sd_listen_fds(3)). If it cannot start they are told so and let go: otherwise systemd, which sees
/// them still waiting, would start it again at once with the same fault, until it gives up the
/// socket.
///
/// Owns a duplicate of the passed socket for as long as it lives. Never throws.
class StartRefusal {
 public:
  /// REQUIRES: before anybody has taken the passed socket (ListeningSocket::inherited).
  StartRefusal();
  StartRefusal(const StartRefusal&) = delete;
  StartRefusal& operator=(const StartRefusal&) = delete;
  ~StartRefusal();

  /// Answers the requests that each waiting client has sent with an error that names the log, not
  /// what is wrong: the log may be for fewer eyes. Who has sent none gets the error with a null id.
  /// Waits for nobody.
  void tell_waiting_clients(int exit_code) const;

 private:
  int listener_ = -1;  ///< -1: no socket was passed
};

}  // namespace bridge
