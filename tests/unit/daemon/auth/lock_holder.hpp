#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>

#include <string>

#include "base/files.hpp"

namespace bridge {

/// Holds a lock of these bytes of a file, all by default, as another process does.
class LockHolder {
 public:
  explicit LockHolder(const std::string& path, off_t first = 0, off_t length = 0)
      : file_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    struct flock bytes {};
    bytes.l_type = F_WRLCK;
    bytes.l_start = first;
    bytes.l_len = length;
    REQUIRE(fcntl(file_.get(), F_OFD_SETLK, &bytes) == 0);
  }

 private:
  Descriptor file_;
};

}  // namespace bridge
