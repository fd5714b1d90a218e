#include "base/secret_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/files.hpp"
#include "text/visible_text.hpp"

namespace bridge {
namespace {

/// Files of /proc and the like report a size of 0.
constexpr std::size_t usual_size = 4095;

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe (what <(…) and /dev/stdin give): write it into a file";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

std::string size_text(std::size_t bytes) {
  return bytes % (1u << 20) == 0 ? fmt::format("{} MiB", bytes >> 20)
                                 : fmt::format("{} KiB", bytes >> 10);
}

/// Reads to the end or to one byte over the limit; returns errno.
int read_all(int descriptor, std::size_t expected, std::size_t most, std::string& bytes) {
  std::size_t filled = 0;
  bytes.resize(std::min(expected > 0 ? expected : usual_size, most) + 1);
  for (;;) {
    const ssize_t count = ::read(descriptor, bytes.data() + filled, bytes.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    filled += static_cast<std::size_t>(count);
    if (count == 0 || filled > most) break;
    if (filled == bytes.size()) bytes.resize(std::min(2 * filled, most + 1));  // it has grown
  }
  bytes.resize(filled);
  return 0;
}

}  // namespace

FileContent read_regular_file(const std::string& path, std::size_t most) {
  FileContent content;
  const auto failed = [&](std::string why) {
    content.bytes.clear();
    content.fault = std::move(why);
    return content;
  };
  // Checked before it is opened: opening some devices has side effects.
  if (stat(path.c_str(), &content.status) != 0) return failed(std::strerror(errno));
  const auto refuse_kind = [&] {
    return failed(fmt::format("is not a regular file but {}", kind_of(content.status.st_mode)));
  };
  if (!S_ISREG(content.status.st_mode)) return refuse_kind();
  // Without O_NONBLOCK opening a FIFO would block until it has a writer.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file || fstat(file.get(), &content.status) != 0) return failed(std::strerror(errno));
  if (!S_ISREG(content.status.st_mode)) return refuse_kind();
  const auto size = static_cast<std::size_t>(content.status.st_size);
  if (const int error = read_all(file.get(), size, most, content.bytes))
    return failed(std::strerror(error));
  if (content.bytes.size() > most) return failed("is over " + size_text(most));
  return content;
}

namespace {

constexpr std::size_t max_secret_file = 64u << 10;
/// More than the granularity of the kernel's clock for files.
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

}  // namespace

FileIdentity identity_of(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 ? identity_of(status) : FileIdentity{};
}

SecretFile read_secret_file(const std::string& path, const std::string& what) {
  SecretFile file;
  const auto failed = [&](const std::string& why) {
    file.content.clear();
    std::string shown;
    append_visible(shown, path);
    file.fault = fmt::format("{}: {}: {}", what, shown, why);
    return file;
  };
  FileContent read = read_regular_file(path, max_secret_file);
  if (!read.fault.empty()) return failed(read.fault);
  file.content = std::move(read.bytes);
  file.identity = identity_of(read.status);
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  file.is_fresh =
      std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec - file.identity.modified_ns < fresh_ns;
  while (!file.content.empty() && (file.content.back() == '\n' || file.content.back() == '\r')) {
    file.content.pop_back();
  }
  if (file.content.empty()) return failed("is empty");
  return file;
}

bool is_token(const std::string& text) { return fits_header(text, header_limit::token); }

std::string credential_file(const std::string& name) {
  const char* folder = std::getenv("CREDENTIALS_DIRECTORY");
  if (folder == nullptr || *folder == '\0') return {};
  const std::string path = std::string(folder) + "/" + name;
  return access(path.c_str(), F_OK) == 0 ? path : std::string();
}

}  // namespace bridge
