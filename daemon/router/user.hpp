#pragma once

#include <sys/types.h>

namespace bridge {

/// Whose process a client is. All callers of the HTTP face are one user of their own: what uid a
/// remote caller has is not known.
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

}  // namespace bridge
