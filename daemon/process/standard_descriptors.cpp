#include "process/standard_descriptors.hpp"

#include <fcntl.h>

#include <cerrno>

namespace bridge {

void ensure_standard_descriptors() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    // The lowest free number is the one that is missing. It stays open for the child's processes.
    if (fcntl(descriptor, F_GETFD) < 0 && errno == EBADF)
      static_cast<void>(open("/dev/null", O_RDWR));
  }
}

}  // namespace bridge
