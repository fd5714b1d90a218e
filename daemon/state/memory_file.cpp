#include "state/memory_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace bridge {
namespace {

constexpr int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

}  // namespace

Descriptor make_memory_file(std::string_view bytes) {
  Descriptor file(memfd_create("mcp-bridged state", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file) return file;
  while (!bytes.empty()) {
    const ssize_t count = write(file.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return {};
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  if (fcntl(file.get(), F_ADD_SEALS, seals) != 0) return {};
  return file;
}

std::optional<std::string> read_memory_file(int descriptor) {
  struct stat status {};
  // Only such a file has seals.
  if (fcntl(descriptor, F_GET_SEALS) != seals || fstat(descriptor, &status) != 0)
    return std::nullopt;
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count =
        pread(descriptor, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    done += static_cast<std::size_t>(count);
  }
  return bytes;
}

}  // namespace bridge
