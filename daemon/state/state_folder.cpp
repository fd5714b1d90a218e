#include "state/state_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/start_error.hpp"

namespace bridge {
namespace {

constexpr int file_flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw StartError(exit_code::cannot_bind, fmt::format("--state-dir: {}: {}", path, why));
}

std::string why() { return std::strerror(errno); }

bool is_of_owner_alone(const struct stat& status) {
  return (status.st_uid == 0 || status.st_uid == geteuid()) &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

/// What the daemon that holds the lock has written into it.
std::string holder(int lock) {
  std::array<char, 24> text{};
  const ssize_t count = pread(lock, text.data(), text.size() - 1, 0);
  long pid = 0;
  if (count > 0 && std::sscanf(text.data(), "%ld", &pid) == 1 && pid > 0)  // NOLINT(cert-err34-c)
    return fmt::format("process {}", pid);
  return "another daemon";
}

}  // namespace

StateFolder::StateFolder(std::string path) : path_(without_slashes(std::move(path))) {
  if (mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST)
    refuse(path_, fmt::format("cannot be made: {}; name another folder", why()));
  folder_ = Descriptor(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder_) {
    refuse(path_, errno == ENOTDIR || errno == ELOOP
                      ? "is not a folder (a symbolic link to one will not do); name another"
                      : fmt::format("cannot be opened: {}; name another folder", why()));
  }
  struct stat status {};
  if (fstat(folder_.get(), &status) != 0) refuse(path_, why());
  if (!is_of_owner_alone(status)) {
    refuse(path_, fmt::format("others can write it (it belongs to uid {}, mode {:04o}): chmod 0700 "
                              "it, or name another folder",
                              status.st_uid, status.st_mode & 07777));
  }
  lock();
}

void StateFolder::lock() {
  lock_ = Descriptor(openat(folder_.get(), "lock", O_RDWR | O_CREAT | file_flags, 0600));
  if (!lock_ && (errno == EROFS || errno == EACCES || errno == ENOSPC || errno == EDQUOT)) {
    // What nobody can write nobody else can spoil; a lock that is there is taken even so.
    lock_ = Descriptor(openat(folder_.get(), "lock", O_RDONLY | file_flags));
    if (!lock_) return;
  }
  if (!lock_) refuse(path_, fmt::format("cannot open {}/lock: {}", path_, why()));
  if (flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    refuse(path_, fmt::format("is used by {}; stop it, or name another folder with --state-dir",
                              holder(lock_.get())));
  }
  const std::string pid = fmt::format("{}\n", getpid());
  // For people; without room it stays empty.
  if (ftruncate(lock_.get(), 0) == 0 && pwrite(lock_.get(), pid.data(), pid.size(), 0) < 0) return;
}

StateFolder::Opened StateFolder::open(const std::string& name) const {
  Opened opened{Descriptor(openat(folder_.get(), name.c_str(), O_RDWR | file_flags)), true};
  if (!opened.file && errno != ENOENT && errno != ELOOP)
    opened = {Descriptor(openat(folder_.get(), name.c_str(), O_RDONLY | file_flags)), false};
  if (!opened.file) {
    if (errno == ENOENT) return {};
    refuse(path_, fmt::format("cannot open {}/{}: {}; have it removed, or name another folder",
                              path_, name, why()));
  }
  struct stat status {};
  if (fstat(opened.file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      !is_of_owner_alone(status)) {
    refuse(path_, fmt::format("{}/{} is no file that only this user can write; have it removed",
                              path_, name));
  }
  return opened;
}

Descriptor StateFolder::create(const std::string& name) const {
  remove(name);
  return Descriptor(
      openat(folder_.get(), name.c_str(), O_RDWR | O_CREAT | O_EXCL | file_flags, 0600));
}

bool StateFolder::rename(const std::string& from, const std::string& to) const {
  return renameat(folder_.get(), from.c_str(), folder_.get(), to.c_str()) == 0;
}

void StateFolder::remove(const std::string& name) const {
  unlinkat(folder_.get(), name.c_str(), 0);
}

bool StateFolder::sync() const { return fsync(folder_.get()) == 0; }

}  // namespace bridge
