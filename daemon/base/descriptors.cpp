#include "base/descriptors.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <array>
#include <cerrno>

#include "base/files.hpp"

namespace bridge {

std::size_t descriptor_limit() {
  rlimit now{};
  return getrlimit(RLIMIT_NOFILE, &now) == 0 ? static_cast<std::size_t>(now.rlim_cur) : 1024;
}

namespace {

/// 0, or why fewer descriptors than a new connection needs can be opened.
int error_of_opening() {
  constexpr std::size_t needed = 3;  // by a connection to a name: a socket, and the resolver's pair
  std::array<Descriptor, needed> tried;
  for (Descriptor& one : tried) {
    one = Descriptor(open("/", O_PATH | O_CLOEXEC));
    if (!one) return errno;
  }
  return 0;
}

}  // namespace

std::string descriptor_shortage() {
  switch (error_of_opening()) {
    case EMFILE:
      return fmt::format(
          "no file descriptors left: the limit is {} (raise ulimit -n or LimitNOFILE)",
          descriptor_limit());
    case ENFILE: return "no file descriptors left in the whole system (raise fs.file-max)";
    default: return {};
  }
}

}  // namespace bridge
