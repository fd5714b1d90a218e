#include "http/client/trust_files.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/start_error.hpp"

namespace bridge {
namespace {

bool write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

HeldFile::HeldFile(const std::string& content)
    : descriptor_(memfd_create("mcp-bridged", MFD_CLOEXEC)),
      path_(fmt::format("/proc/self/fd/{}", descriptor_)) {
  if (descriptor_ >= 0 && write_all(descriptor_, content)) return;
  const int error = errno;
  if (descriptor_ >= 0) close(descriptor_);
  throw StartError(exit_code::configuration,
                   fmt::format("a certificate cannot be kept in memory: {}", std::strerror(error)));
}

HeldFile::~HeldFile() { close(descriptor_); }

}  // namespace bridge
