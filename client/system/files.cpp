#include "system/files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace client {
namespace {

constexpr mode_t for_owner = 0600;

}  // namespace

Sink::Sink(int descriptor) : descriptor_(descriptor), kind_(Kind::other) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return;
  if (S_ISREG(status.st_mode)) kind_ = Kind::file;
  if (S_ISFIFO(status.st_mode)) kind_ = Kind::pipe;
  if (S_ISSOCK(status.st_mode)) kind_ = Kind::socket;
}

/// POLLOUT promises room for PIPE_BUF bytes in a pipe; an empty one has its whole capacity.
std::size_t Sink::safe_size(std::size_t wanted) const {
  if (kind_ == Kind::file || wanted <= PIPE_BUF) return wanted;
  int filled = 0;
  if (kind_ == Kind::pipe && ::ioctl(descriptor_, FIONREAD, &filled) == 0 && filled == 0) {
    const int capacity = ::fcntl(descriptor_, F_GETPIPE_SZ);
    if (capacity > PIPE_BUF) return std::min(wanted, static_cast<std::size_t>(capacity));
  }
  return PIPE_BUF;
}

Sink::Result Sink::write_some(std::string_view data, std::size_t& written) const {
  written = 0;
  for (;;) {
    const ssize_t count =
        kind_ == Kind::socket
            ? ::send(descriptor_, data.data(), data.size(), MSG_DONTWAIT | MSG_NOSIGNAL)
            : ::write(descriptor_, data.data(), safe_size(data.size()));
    if (count >= 0) {
      written = static_cast<std::size_t>(count);
      return Result::ok;
    }
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return Result::would_block;
    return errno == EPIPE || errno == ECONNRESET ? Result::closed : Result::failed;
  }
}

Sink::Result Sink::write_all(std::string_view data, int interrupt) const {
  while (!data.empty()) {
    std::array<pollfd, 2> watched = {pollfd{descriptor_, POLLOUT, 0}, pollfd{interrupt, POLLIN, 0}};
    if (::poll(watched.data(), watched.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return Result::failed;
    }
    if (watched[0].revents == 0) return Result::interrupted;
    std::size_t written = 0;
    const Result result = write_some(data, written);
    if (result != Result::ok && result != Result::would_block) return result;
    data.remove_prefix(written);
  }
  return Result::ok;
}

int read_all(int file, std::string& text, std::size_t most) {
  std::array<char, 65536> buffer;  // uninitialized; read(2) writes it first
  for (;;) {
    const ssize_t count = ::read(file, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count == 0 ? 0 : errno;
    text.append(buffer.data(), static_cast<std::size_t>(count));
    if (text.size() > most) return EFBIG;
  }
}

int make_folders(const std::string& path, mode_t mode) {
  for (std::size_t at = 1; at != path.npos; ++at) {
    at = path.find('/', at);
    if (::mkdir(path.substr(0, at).c_str(), mode) != 0 && errno != EEXIST) return errno;
    if (at == path.npos) break;
  }
  return 0;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == path.npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real ? std::string(real.get()) : path;
}

void each_file(const std::string& path, std::string_view suffix,
               const std::function<void(std::string_view name)>& visit) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), &::closedir);
  while (const dirent* const entry = folder ? ::readdir(folder.get()) : nullptr) {
    const std::string_view file = entry->d_name;
    if (file.ends_with(suffix)) visit(file.substr(0, file.size() - suffix.size()));
  }
}

int append_to_file(const std::string& path, const std::string& text) {
  const FileDescriptor file(::open(
      path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, for_owner));
  return file && bridge::write_all(file.get(), text) ? 0 : errno;
}

int replace_file(const std::string& path, const std::string& text) {
  const std::string next = path + ".new";
  {
    const FileDescriptor file(::open(
        next.c_str(), O_WRONLY | O_TRUNC | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, for_owner));
    if (!file) return errno;
    if (!bridge::write_all(file.get(), text)) return errno;
  }
  return std::rename(next.c_str(), path.c_str()) == 0 ? 0 : errno;
}

}  // namespace client
