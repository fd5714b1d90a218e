#pragma once

#include <sys/types.h>

#include <vector>

namespace bridge {

/// What a policy may ask of a peer: who its process is by the kernel's word, or that it is a caller
/// of the HTTP frontend, of whom no more is known; and whether it has a grant. A value.
struct Peer {
  bool http = false;
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups{};  ///< the supplementary ones
  bool grant = false;           ///< it has a grant (grant/grant.hpp)

  template <class A>
  void each_field(A& archive) {
    archive(http, uid, gid, groups, grant);
  }
};

/// The user that a client's process belongs to, or the first issuer of its grant: whose limits are
/// used. All callers of the HTTP frontend are one user, because the uid of a remote caller is
/// unknown.
struct User {
  bool remote = false;
  uid_t uid = 0;

  template <class A>
  void each_field(A& archive) {
    archive(remote, uid);
  }
  friend bool operator==(const User&, const User&) = default;
  friend bool operator<(const User& left, const User& right) {
    return left.remote != right.remote ? right.remote : left.uid < right.uid;
  }
};

inline User user_of(const Peer& peer) { return peer.http ? User{true, 0} : User{false, peer.uid}; }

}  // namespace bridge
