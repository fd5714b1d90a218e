#include "sockets/peer_credentials.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/contains.hpp"
#include "base/files.hpp"
#include "base/log.hpp"

namespace bridge {

std::optional<PeerCredentials> peer_credentials(int socket, bool with_groups) {
  ucred credentials{};
  socklen_t length = sizeof credentials;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return std::nullopt;
  PeerCredentials peer;
  peer.pid = credentials.pid;
  peer.uid = credentials.uid;
  peer.gid = credentials.gid;
  if (!with_groups) return peer;
  std::array<gid_t, 1024> groups{};
  length = sizeof groups;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &length) == 0) {
    peer.groups.assign(groups.begin(), groups.begin() + length / sizeof(gid_t));
  }
  return peer;
}

bool is_unix_socket(int descriptor) {
  int domain = 0;
  socklen_t length = sizeof domain;
  return getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 && domain == AF_UNIX;
}

// SIOCOUTQ counts what the peer has not read. It is 0 after the peer has closed, too; whether that
// peer had read all is then told by the reset that closing with unread data causes.
PeerReading look_what_peer_read(int socket) {
  PeerReading reading;
  int unread = 0;
  if (ioctl(socket, SIOCOUTQ, &unread) != 0 || unread != 0) return reading;
  char byte = 0;
  const ssize_t seen = recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  reading.was_reset = seen < 0 && errno != EAGAIN && errno != EINTR;
  reading.has_read_all = !reading.was_reset;
  reading.has_sent = seen > 0;
  return reading;
}

bool has_hung_up(int socket) {
  pollfd poll_set{socket, POLLIN, 0};
  return poll(&poll_set, 1, 0) == 1 && (poll_set.revents & (POLLHUP | POLLERR)) != 0;
}

std::string command_of(pid_t pid) {
  if (pid <= 0) return {};
  const Descriptor file(::open(fmt::format("/proc/{}/comm", pid).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return {};
  std::array<char, 32> name{};
  const ssize_t length = ::read(file.get(), name.data(), name.size());
  if (length <= 0) return {};
  std::string_view text(name.data(), static_cast<std::size_t>(length));
  if (text.back() == '\n') text.remove_suffix(1);
  return printable(text);
}

bool PeerPolicy::admits(const PeerCredentials& peer) const {
  if (uids.empty() && gids.empty()) {
    return !own_user_only || peer.uid == 0 || peer.uid == geteuid();
  }
  return contains(uids, peer.uid) || contains(gids, peer.gid) ||
         std::any_of(peer.groups.begin(), peer.groups.end(),
                     [this](gid_t group) { return contains(gids, group); });
}

}  // namespace bridge
