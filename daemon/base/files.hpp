#pragma once

#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace bridge {

/// Writes all bytes to a file that does not block. False, with errno: not all were written.
inline bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written == 0) errno = ENOSPC;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// The working directory; empty if it has no path.
std::string current_folder();

/// The folder of what `path` names; "." if it has none.
std::string folder_of(const std::string& path);

/// Why this user can make no file or folder at `path`, for display; empty: it can.
std::string fault_of_place(const std::string& path);

/// Whether only this user and root can write a file or folder: it belongs to one of them, and its
/// mode lets no others write.
inline bool is_of_owner_alone(const struct stat& status) {
  return (status.st_uid == 0 || status.st_uid == ::geteuid()) &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/// The first folder or symbolic link on the way to `path` through which a user other than root and
/// `user` could replace what `path` names; empty if there is none. Every folder counts that the
/// kernel passes through, those of links included; in a sticky folder that others may write,
/// entries of root and `user` are safe. Only the path is judged, not the mode of the file at its
/// end. A path that cannot be followed is replaceable at that point. REQUIRES: `path` is absolute.
std::string replaceable_part_of(const std::string& path, uid_t user);

/// Owns a file descriptor, or none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  ~Descriptor() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Descriptor(Descriptor&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }

  explicit operator bool() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }
  /// The caller owns it from now on.
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_ = -1;
};

}  // namespace bridge
