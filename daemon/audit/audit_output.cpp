#include "audit/audit_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <utility>

#include "base/files.hpp"
#include "base/log.hpp"
#include "base/start_error.hpp"
#include "json/json_text.hpp"

namespace bridge {
namespace {

constexpr int file_flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
constexpr off_t most_looked_at = off_t{64} << 20;

std::string why() { return std::strerror(errno); }

std::string with_path(const std::string& path, const std::string& reason) {
  return fmt::format("{}: {}", printable(path), reason);
}

/// Empty: the file may be in a folder with this status.
std::string fault_of_folder(const struct stat& status) {
  if (is_of_owner_alone(status)) return {};
  return "other users can write to its folder; chmod go-w it, or name another";
}

/// Empty: the audit may be in a file with this status.
std::string fault_of_file(const struct stat& status) {
  if (S_ISREG(status.st_mode) && is_of_owner_alone(status)) return {};
  return "other users can write to it, or it is not a regular file";
}

}  // namespace

AuditFile::AuditFile(std::string path, AuditStart start) : path_(std::move(path)) {
  if (open() == Reopened::failed && start == AuditStart::must_open)
    throw StartError(exit_code::cannot_bind, "--audit: " + fault_);
}

AuditFile::~AuditFile() {
  if (file_ >= 0) close(file_);
}

AuditOutput::Reopened AuditFile::open() {
  const auto fail = [this](const std::string& reason) {
    fault_ = with_path(path_, reason);
    return Reopened::failed;
  };
  const std::string folder_name = folder_of(path_);
  if (mkdir(folder_name.c_str(), 0700) != 0 && errno != EEXIST)
    return fail(fmt::format("cannot create its folder: {}", why()));
  const Descriptor folder(
      ::open(folder_name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder) return fail(fmt::format("cannot open its folder: {}", why()));
  struct stat status {};
  if (fstat(folder.get(), &status) != 0) return fail(why());
  if (const std::string fault = fault_of_folder(status); !fault.empty()) return fail(fault);
  const std::string name = path_.substr(path_.find_last_of('/') + 1);
  Descriptor file(
      openat(folder.get(), name.c_str(), O_RDWR | O_APPEND | O_CREAT | file_flags, 0600));
  if (!file) return fail(fmt::format("cannot be opened: {}", why()));
  if (fstat(file.get(), &status) != 0) return fail(why());
  if (const std::string fault = fault_of_file(status); !fault.empty()) return fail(fault);
  struct stat before {};
  if (file_ >= 0 && fstat(file_, &before) == 0 && before.st_dev == status.st_dev &&
      before.st_ino == status.st_ino) {
    fault_.clear();
    return Reopened::same;
  }
  // Whether another daemon writes to it, which then ends its own lines.
  is_shared_ = flock(file.get(), LOCK_EX | LOCK_NB) != 0;
  static_cast<void>(flock(file.get(), LOCK_SH | LOCK_NB));
  // It may have been made with other permissions, by logrotate for example.
  if (status.st_uid == geteuid() && (status.st_mode & 077) != 0 && fchmod(file.get(), 0600) != 0)
    return fail(fmt::format("cannot be given mode 0600: {}", why()));
  const int opened = fcntl(file.get(), F_DUPFD_CLOEXEC, 3);
  if (opened < 0) return fail(why());
  if (file_ >= 0) close(file_);
  file_ = opened;
  char last = '\n';
  has_cut_line_ =
      status.st_size > 0 && pread(file_, &last, 1, status.st_size - 1) == 1 && last != '\n';
  static_cast<void>(end_cut_line());  // else the next write does it
  fault_.clear();
  return Reopened::another;
}

/// A line that was cut off stays, and the next line begins on its own. False if there is no room.
bool AuditFile::end_cut_line() {
  if (has_cut_line_) has_cut_line_ = ::write(file_, "\n", 1) != 1;
  return !has_cut_line_;
}

std::size_t AuditFile::write(std::string_view lines) {
  if (file_ < 0 && open() == Reopened::failed) return 0;
  if (!end_cut_line()) {
    fault_ = with_path(path_, why());
    return 0;
  }
  for (;;) {
    const ssize_t written = ::write(file_, lines.data(), lines.size());
    if (written < 0 && errno == EINTR) continue;
    if (written == static_cast<ssize_t>(lines.size())) {
      fault_.clear();
      return lines.size();
    }
    // After a part the reason is known with the next try.
    const std::string reason = written < 0 ? why() : std::strerror(ENOSPC);
    fault_ = with_path(path_, reason);
    return written < 0 ? 0 : static_cast<std::size_t>(written);
  }
}

AuditOutput::Reopened AuditFile::reopen() { return open(); }

std::vector<std::string> AuditFile::unended() const {
  struct stat status {};
  if (file_ < 0 || is_shared_ || fstat(file_, &status) != 0) return {};
  off_t at = std::max<off_t>(0, status.st_size - most_looked_at);
  bool is_whole = at == 0;  // the first line may be cut off otherwise
  std::map<std::string, std::string> begun;
  std::string text;
  std::string block(std::size_t{1} << 20, '\0');
  const auto take = [&](const std::string& line) {
    if (!std::exchange(is_whole, true) || line.find("\"id\":") == line.npos || !is_json(line))
      return;
    const auto id = find_string(line, "id");
    if (!id) return;
    if (find_member(line, "outcome")) {
      begun.erase(*id);
    } else {
      begun.insert_or_assign(*id, line);
    }
  };
  for (;;) {
    const ssize_t count = pread(file_, block.data(), block.size(), at);
    if (count <= 0) break;
    at += count;
    text.append(block, 0, static_cast<std::size_t>(count));
    std::size_t begin = 0;
    for (std::size_t end = text.find('\n'); end != text.npos; end = text.find('\n', begin)) {
      take(text.substr(begin, end - begin));
      begin = end + 1;
    }
    text.erase(0, begin);
  }
  std::vector<std::string> lines;
  lines.reserve(begun.size());
  for (auto& [id, line] : begun) lines.push_back(std::move(line));
  return lines;
}

std::string fault_of_audit_file(const std::string& path) {
  const auto tell = [&path](const std::string& reason) {
    return reason.empty() ? reason : with_path(path, reason);
  };
  const std::string folder = folder_of(path);
  struct stat status {};
  if (lstat(folder.c_str(), &status) != 0) {
    // The start makes a folder that is missing, with no others above it.
    return tell(errno == ENOENT ? fault_of_place(folder) : why());
  }
  if (!S_ISDIR(status.st_mode))
    return tell(printable(folder) + " is not a folder (symbolic links are not followed)");
  if (const std::string fault = fault_of_folder(status); !fault.empty()) return tell(fault);
  if (lstat(path.c_str(), &status) != 0) return tell(fault_of_place(path));
  return tell(S_ISDIR(status.st_mode) ? "is a folder" : fault_of_file(status));
}

AuditStream::AuditStream(int descriptor, AuditStart start) : descriptor_(descriptor) {
  if (reopen() == Reopened::failed && start == AuditStart::must_open)
    throw StartError(exit_code::cannot_bind, "--audit: " + fault_);
}

AuditOutput::Reopened AuditStream::reopen() {
  const bool is_open = fcntl(descriptor_, F_GETFD) >= 0;
  fault_ = is_open ? std::string() : fmt::format("descriptor {}: {}", descriptor_, why());
  return is_open ? Reopened::same : Reopened::failed;
}

std::size_t AuditStream::write(std::string_view lines) {
  // A pipe that poll(2) calls writable takes this much at once (pipe(7)).
  constexpr std::size_t at_once = 4096;
  std::size_t written = 0;
  is_busy_ = false;
  while (written < lines.size()) {
    std::string_view next = lines.substr(written, at_once);
    if (const auto end = next.find_last_of('\n'); end != next.npos) next = next.substr(0, end + 1);
    pollfd writable{descriptor_, POLLOUT, 0};
    const int ready = poll(&writable, 1, 0);
    is_busy_ = ready == 0;
    const ssize_t count = ready > 0 ? ::write(descriptor_, next.data(), next.size()) : -1;
    if (count < 0 && !is_busy_ && errno == EINTR) continue;
    if (count < 0) {
      is_busy_ = is_busy_ || errno == EAGAIN;
      fault_ =
          fmt::format("descriptor {}: {}", descriptor_, is_busy_ ? "its reader is behind" : why());
      return written;
    }
    written += static_cast<std::size_t>(count);
  }
  fault_.clear();
  return written;
}

AuditJournal::AuditJournal(AuditStart start, std::string path) : path_(std::move(path)) {
  if (reopen() == Reopened::failed && start == AuditStart::must_open)
    throw StartError(exit_code::cannot_bind, "--audit journal: " + fault_);
}

AuditJournal::~AuditJournal() {
  if (socket_ >= 0) close(socket_);
}

AuditOutput::Reopened AuditJournal::reopen() {
  Descriptor opened(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path_.copy(address.sun_path, sizeof address.sun_path - 1);
  if (!opened ||
      connect(opened.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    fault_ = fmt::format("the journal cannot be reached: {}", why());
    return Reopened::failed;
  }
  // As sd_journal_send(3) does: without privileges the kernel's own limit holds.
  const int room = 8 << 20;
  if (setsockopt(opened.get(), SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof room) != 0)
    static_cast<void>(setsockopt(opened.get(), SOL_SOCKET, SO_SNDBUF, &room, sizeof room));
  if (socket_ >= 0) close(socket_);
  socket_ = fcntl(opened.get(), F_DUPFD_CLOEXEC, 3);
  fault_.clear();
  return Reopened::same;
}

bool AuditJournal::wait(std::chrono::milliseconds time) const {
  if (!is_busy_ || socket_ < 0) return false;
  pollfd one{socket_, POLLOUT, 0};
  return poll(&one, 1, static_cast<int>(time.count())) == 1 && (one.revents & POLLOUT) != 0;
}

std::size_t AuditJournal::write(std::string_view lines) {
  is_busy_ = false;
  if (socket_ < 0 && reopen() == Reopened::failed) return 0;
  std::size_t done = 0;
  while (done < lines.size()) {
    const std::size_t end = std::min(lines.find('\n', done), lines.size());
    const std::string entry =
        fmt::format("PRIORITY=6\nSYSLOG_IDENTIFIER=mcp-bridged-audit\nMESSAGE={}\n",
                    lines.substr(done, end - done));
    const ssize_t sent = send(socket_, entry.data(), entry.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) {
      const int error = errno;
      is_busy_ = error == EAGAIN;
      if (!is_busy_) {
        close(socket_);
        socket_ = -1;
      }
      fault_ = fmt::format("the journal rejects the entry: {}", std::strerror(error));
      return done;
    }
    done = std::min(end + 1, lines.size());
  }
  fault_.clear();
  return done;
}

}  // namespace bridge
