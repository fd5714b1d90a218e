#include "downstream/unix/peer_credentials.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>

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
