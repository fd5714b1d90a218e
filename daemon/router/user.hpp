#pragma once

#include <sys/types.h>

#include <compare>

namespace bridge {

/// Whose process a client is. All callers of the HTTP face are one user of their own: what uid a
/// remote caller has is not known.
struct User {
  bool remote = false;
  uid_t uid = 0;

  friend auto operator<=>(const User&, const User&) = default;
};

}  // namespace bridge
