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

}  // namespace bridge
