#include "auth/secret_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "service/log.hpp"

namespace bridge {
namespace {

constexpr std::size_t max_secret_file = 64u << 10;
/// Coarser than the kernel's clock for files.
constexpr std::int64_t fresh_ns = 100'000'000;

FileIdentity identity_of(const struct stat& status) {
  FileIdentity identity;
  identity.device = status.st_dev;
  identity.inode = status.st_ino;
  identity.modified_ns =
      std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
  identity.size = status.st_size;
  return identity;
}

struct OpenFile {
  explicit OpenFile(const std::string& path)
      : descriptor(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) {}
  ~OpenFile() {
    if (descriptor >= 0) close(descriptor);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int descriptor;
};

/// Reads to the end or to one byte over the limit; returns errno.
int read_all(int descriptor, std::string& content) {
  content.resize(max_secret_file + 1);
  std::size_t filled = 0;
  while (filled < content.size()) {
    const ssize_t count = read(descriptor, content.data() + filled, content.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
  }
  content.resize(filled);
  return 0;
}

}  // namespace

FileIdentity identity_of(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 ? identity_of(status) : FileIdentity{};
}

SecretFile read_secret_file(const std::string& path, const std::string& what) {
  SecretFile file;
  const auto failed = [&](const std::string& why) {
    file.content.clear();
    file.fault = fmt::format("{}: {}: {}", what, printable(path), why);
    return file;
  };
  const OpenFile opened(path);
  struct stat status {};
  if (opened.descriptor < 0 || fstat(opened.descriptor, &status) != 0) {
    return failed(std::strerror(errno));
  }
  if (!S_ISREG(status.st_mode)) return failed("not a regular file");
  file.identity = identity_of(status);
  if (const int error = read_all(opened.descriptor, file.content)) {
    return failed(std::strerror(error));
  }
  if (file.content.size() > max_secret_file) return failed("over 64 KiB");
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  file.is_fresh =
      std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec - file.identity.modified_ns < fresh_ns;
  while (!file.content.empty() && (file.content.back() == '\n' || file.content.back() == '\r')) {
    file.content.pop_back();
  }
  if (file.content.empty()) return failed("empty");
  return file;
}

bool is_token(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7F; });
}

std::string credential_file(const std::string& name) {
  const char* folder = std::getenv("CREDENTIALS_DIRECTORY");
  if (folder == nullptr || *folder == '\0') return {};
  const std::string path = std::string(folder) + "/" + name;
  return access(path.c_str(), F_OK) == 0 ? path : std::string();
}

}  // namespace bridge
