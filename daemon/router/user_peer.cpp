#include "router/user_peer.hpp"

#include <grp.h>
#include <pwd.h>

namespace bridge {

Peer peer_of(const User& user) {
  Peer peer;
  peer.http = user.remote;
  peer.uid = user.uid;
  if (user.remote) return peer;
  // Without an account it has no group, not even root's.
  peer.gid = static_cast<gid_t>(-1);
  const passwd* const account = getpwuid(user.uid);
  if (account == nullptr) return peer;
  peer.gid = account->pw_gid;
  int count = 256;
  peer.groups.resize(static_cast<std::size_t>(count));
  if (getgrouplist(account->pw_name, account->pw_gid, peer.groups.data(), &count) < 0) {
    peer.groups.resize(static_cast<std::size_t>(count));
    if (getgrouplist(account->pw_name, account->pw_gid, peer.groups.data(), &count) < 0) count = 0;
  }
  peer.groups.resize(static_cast<std::size_t>(count));
  return peer;
}

}  // namespace bridge
