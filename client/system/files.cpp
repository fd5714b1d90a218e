#include "system/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include "system/file_descriptor.hpp"

namespace client {
namespace {

constexpr mode_t for_owner = 0600;

int write_all(int file, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t count = ::write(file, text.data() + at, text.size() - at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    at += static_cast<std::size_t>(count);
  }
  return 0;
}

}  // namespace

FileText read_whole_file(const std::string& path, std::size_t most) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return {{}, errno};
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) return {{}, errno};
  if (!S_ISREG(facts.st_mode)) return {{}, S_ISDIR(facts.st_mode) ? EISDIR : EINVAL};
  FileText read;
  read.is_own = (facts.st_uid == ::geteuid() || facts.st_uid == 0) &&
                (facts.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  std::array<char, 16384> buffer;  // to be written first by read(2)
  for (;;) {
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return {{}, errno};
    if (count == 0) return read;
    read.text.append(buffer.data(), static_cast<std::size_t>(count));
    if (read.text.size() > most) return {{}, EFBIG};
  }
}

int append_to_file(const std::string& path, const std::string& text) {
  const FileDescriptor file(::open(
      path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, for_owner));
  return file ? write_all(file.get(), text) : errno;
}

int replace_file(const std::string& path, const std::string& text) {
  const std::string next = path + ".new";
  {
    const FileDescriptor file(::open(
        next.c_str(), O_WRONLY | O_TRUNC | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, for_owner));
    if (!file) return errno;
    if (const int error = write_all(file.get(), text); error != 0) return error;
  }
  return std::rename(next.c_str(), path.c_str()) == 0 ? 0 : errno;
}

}  // namespace client
