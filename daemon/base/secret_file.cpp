#include "base/secret_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/log.hpp"
#include "base/regular_file.hpp"
#include "text/header_text.hpp"

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
