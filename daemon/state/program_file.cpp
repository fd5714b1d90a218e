#include "state/program_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/replaceable_path.hpp"

namespace bridge {
namespace {

std::string link_target(const std::string& link) {
  std::array<char, PATH_MAX> text;
  const ssize_t length = readlink(link.c_str(), text.data(), text.size());
  return length < 0 ? std::string() : std::string(text.data(), static_cast<std::size_t>(length));
}

bool is_this_program(const std::string& path) {
  struct stat named {};
  struct stat own {};
  return stat(path.c_str(), &named) == 0 && stat("/proc/self/exe", &own) == 0 &&
         named.st_ino == own.st_ino && named.st_dev == own.st_dev;
}

std::string absolute(const std::string& path) {
  if (path.starts_with('/')) return path;
  std::array<char, PATH_MAX> folder;
  if (getcwd(folder.data(), folder.size()) == nullptr) return path;
  return std::string(folder.data()) + "/" + path;
}

std::string found_in_path(const std::string& name) {
  const char* const variable = std::getenv("PATH");
  std::string_view folders = variable == nullptr ? "" : variable;
  while (!folders.empty()) {
    const auto end = std::min(folders.find(':'), folders.size());
    std::string candidate = absolute(std::string(folders.substr(0, end)) + "/" + name);
    if (is_this_program(candidate)) return candidate;
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  return {};
}

/// Whether only root and our own user can write it.
bool is_ours_alone(const struct stat& status) {
  return (status.st_uid == 0 || status.st_uid == geteuid()) &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}
bool is_ours_alone(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && is_ours_alone(status);
}

/// A copy of `file` in memory that can be executed and not read; none and errno if it cannot be
/// made.
Descriptor executable_copy(const Descriptor& file) {
#ifndef MFD_EXEC
  constexpr unsigned MFD_EXEC = 0x0010;  // Linux 6.3
#endif
  constexpr unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  Descriptor copy(memfd_create("mcp-bridged", flags | MFD_EXEC));
  if (!copy && errno == EINVAL) copy = Descriptor(memfd_create("mcp-bridged", flags));
  if (!copy) return copy;
  for (;;) {
    const ssize_t count = sendfile(copy.get(), file.get(), nullptr, std::size_t{1} << 20);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return {};
    if (count == 0) break;
  }
  // What is open for writing cannot be executed.
  const std::string path = fmt::format("/proc/self/fd/{}", copy.get());
  constexpr int unchangeable = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  if (fcntl(copy.get(), F_ADD_SEALS, unchangeable) != 0 || fchmod(copy.get(), 0111) != 0) return {};
  return Descriptor(open(path.c_str(), O_PATH | O_CLOEXEC));
}

}  // namespace

std::string program_as_started(const std::string& name) {
  const std::string path = name.find('/') != name.npos ? absolute(name) : found_in_path(name);
  return is_this_program(path) ? path : link_target("/proc/self/exe");
}

std::variant<Descriptor, std::string> open_program(const std::string& path) {
  const auto because = [&path](std::string_view reason) {
    return fmt::format("{}: {}", path, reason);
  };
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return because(std::strerror(errno));
  struct stat status {};
  if (fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return because("not a file");
  if (!is_ours_alone(status)) return because("another user can write it");
  if (const std::string part = replaceable_part_of(path, geteuid()); !part.empty())
    return because(fmt::format("another user can replace it, at {}", part));
  if (!is_ours_alone(path.substr(0, path.rfind('/') + 1)))
    return because("another user can write its folder");
  if (faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) != 0)
    return because(std::strerror(errno));
  char begin[2] = {};
  if (pread(file.get(), begin, sizeof begin, 0) == 2 && begin[0] == '#' && begin[1] == '!')
    return because("a script cannot take over open descriptors");
  Descriptor copy = executable_copy(file);
  if (!copy) return because(fmt::format("cannot be copied into memory: {}", std::strerror(errno)));
  return copy;
}

FileCapabilitiesOff::FileCapabilitiesOff() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  if (syscall(SYS_capget, &header, before_.data()) != 0) return;
  constexpr std::uint32_t files = 1U << CAP_DAC_OVERRIDE | 1U << CAP_DAC_READ_SEARCH;
  auto without = before_;
  without[0] &= ~files;  // the first set's effective ones
  changed_ = without != before_ && syscall(SYS_capset, &header, without.data()) == 0;
}

FileCapabilitiesOff::~FileCapabilitiesOff() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  if (changed_) syscall(SYS_capset, &header, before_.data());
}

}  // namespace bridge
