#pragma once

#include <sys/resource.h>

#include <cstddef>

namespace bridge {

/// How many file descriptors the parts may need at most. All in one pool the HTTP face could leave
/// nothing for the Unix socket or for the upstream: so it gets what the others leave.
struct DescriptorNeeds {
  std::size_t clients = 0;   ///< connections of the Unix socket
  std::size_t upstream = 0;  ///< connections to it, or its pipes
  std::size_t face = 0;      ///< connections of the HTTP face

  std::size_t all() const;
  /// How many connections the face may have with `limit` descriptors in all. If the others alone
  /// need about as many, an eighth of them: then each has to do with less.
  std::size_t face_share(std::size_t limit) const;
};

/// Raises the soft limit of file descriptors as far as `needed` and the hard limit allow. Returns
/// the limit as it was: a child gets it back, since programs that use select(2) break with more.
rlimit raise_descriptor_limit(std::size_t needed);

/// The soft limit now.
std::size_t descriptor_limit();

/// Sets the limit; nothing if both are 0, which says that it is not known.
void limit_descriptors(const rlimit& limit);

}  // namespace bridge
