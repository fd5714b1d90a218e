#include "state/state_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/files.hpp"
#include "base/random.hpp"
#include "base/start_error.hpp"

namespace bridge {
namespace {

constexpr int file_flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw StartError(exit_code::cannot_bind, fmt::format("--state-dir: {}: {}", path, why));
}

std::string why() { return std::strerror(errno); }

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
    refuse(path_, fmt::format("cannot be created: {}; name another folder", why()));
  folder_ = Descriptor(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder_) {
    refuse(path_, errno == ENOTDIR || errno == ELOOP
                      ? "is not a folder (symbolic links are not followed); name another"
                      : fmt::format("cannot be opened: {}; name another folder", why()));
  }
  struct stat status {};
  if (fstat(folder_.get(), &status) != 0) refuse(path_, why());
  if (!is_of_owner_alone(status)) {
    refuse(
        path_,
        fmt::format(
            "other users can write to it (uid {}, mode {:04o}); chmod 0700 it, or name another folder",
            status.st_uid, status.st_mode & 07777));
  }
  lock();
}

void StateFolder::lock() {
  lock_ = Descriptor(openat(folder_.get(), "lock", O_RDWR | O_CREAT | file_flags, 0600));
  if (!lock_ && (errno == EROFS || errno == EACCES || errno == ENOSPC || errno == EDQUOT)) {
    // An unwritable state needs no protection from others; an existing lock is taken all the same.
    lock_ = Descriptor(openat(folder_.get(), "lock", O_RDONLY | file_flags));
    if (!lock_) return;
  }
  if (!lock_) refuse(path_, fmt::format("cannot open {}/lock: {}", path_, why()));
  if (flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    refuse(path_, fmt::format("is used by {}; stop it, or name another folder with --state-dir",
                              holder(lock_.get())));
  }
  const std::string pid = fmt::format("{}\n", getpid());
  // For administrators; stays empty without room.
  if (ftruncate(lock_.get(), 0) == 0 && pwrite(lock_.get(), pid.data(), pid.size(), 0) < 0) return;
}

StateFolder::Opened StateFolder::open(const std::string& name) const {
  Opened opened{Descriptor(openat(folder_.get(), name.c_str(), O_RDWR | file_flags)), true};
  if (!opened.file && errno != ENOENT && errno != ELOOP)
    opened = {Descriptor(openat(folder_.get(), name.c_str(), O_RDONLY | file_flags)), false};
  if (!opened.file) {
    if (errno == ENOENT) return {};
    refuse(path_, fmt::format("cannot open {}/{}: {}; remove it, or name another folder", path_,
                              name, why()));
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

namespace {

/// Memory beyond this is released after a large write.
constexpr std::size_t usual_capacity = 64u << 10;

}  // namespace

bool LogWriter::write() {
  std::string_view rest = gathered_;
  while (!rest.empty()) {
    const ssize_t count =
        pwrite(file_.get(), rest.data(), rest.size(), static_cast<off_t>(written_));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      if (count == 0) errno = ENOSPC;
      return false;
    }
    written_ += static_cast<std::uint64_t>(count);
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
  gathered_.clear();
  if (gathered_.capacity() > usual_capacity) gathered_.shrink_to_fit();
  return true;
}

namespace {

constexpr std::size_t step_bytes = 256u << 10;
/// The log is rewritten when it exceeds twice its content by this.
constexpr std::size_t worth_rewriting = 512u << 10;

}  // namespace

StateLog::StateLog(EventLoop& loop, StateFolder& folder, const TargetHash& target, Sync sync,
                   StateSource& source, Log& log)
    : loop_(loop),
      folder_(folder),
      target_(target),
      sync_(sync),
      source_(source),
      log_(log),
      timer_(loop, [this] { timer_fired(); }) {}

bool StateLog::proceed(Descriptor file, const LogHeader& header, std::uint64_t size) {
  if (ftruncate(file.get(), static_cast<off_t>(size)) != 0) return false;
  current_.emplace(std::move(file), header, size);
  // From a daemon that died while writing one, or before removing the other.
  folder_.remove("state.new");
  folder_.remove("state.stale");
  return true;
}

void StateLog::begin() {
  if (!begin_rewrite()) return;
  while (next_) step();
}

void StateLog::append_payload(std::uint32_t type, std::string_view payload) {
  if (current_) current_->append(type, payload);
  if (!next_) return;
  next_->append(type, payload);
  appended_ += record_size(payload.size());
}

void StateLog::write() {
  if (next_) step();
  write_now();
  if (current_ && !next_ && !timer_.is_set() && is_too_large()) begin_rewrite();
  if (next_) timer_.set(loop_.now());
}

void StateLog::write_now() {
  if (current_ && current_->has_gathered() &&
      (!current_->write() || (sync_ == Sync::power && !current_->sync())))
    fail();
}

bool StateLog::is_too_large() const {
  return current_->size() > worth_rewriting &&
         current_->size() - worth_rewriting > 2 * source_.saved_bytes();
}

/// False if there is no room or no permission.
bool StateLog::begin_rewrite() {
  LogHeader header;
  header.target = target_;
  header.salt = random_number();
  Descriptor file = folder_.create("state.new");
  if (!file) {
    give_up_new_one();
    return false;
  }
  next_.emplace(std::move(file), header);
  appended_ = 0;
  source_.begin_snapshot();
  return true;
}

/// Writes more than was added meanwhile, so that the rewriting ends.
void StateLog::step() {
  const bool more =
      source_.continue_snapshot(*next_, std::max(step_bytes, 2 * std::exchange(appended_, 0)));
  if (!next_->write() || (sync_ == Sync::power && !next_->sync())) {
    give_up_new_one();
  } else if (!more) {
    finish();
  }
}

void StateLog::finish() {
  if (!folder_.rename("state.new", "state")) {
    give_up_new_one();
    return;
  }
  current_ = std::exchange(next_, std::nullopt);
  if (sync_ == Sync::power && !folder_.sync()) {
    fail();
    return;
  }
  error_.clear();
  timer_.clear();
  ++rewrites_;
  folder_.remove("state.stale");
  if (std::exchange(has_failed_, false))
    log_.event(LogLevel::info, "state written again", "state saved again in {}", folder_.path());
}

/// The log cannot be written: from now on changes are in memory only. What was durable stays as
/// `state.stale`.
void StateLog::fail() {
  const int error = errno;
  error_ = std::strerror(error);
  ++failures_;
  current_.reset();
  const bool is_marked = folder_.rename("state", "state.stale");
  if (next_) folder_.remove("state.new");
  next_.reset();
  has_failed_ = true;
  log_.event(
      LogLevel::error, "state not written",
      "state not saved: {} in {}; changes from now on are lost if the daemon ends. {}; retrying with a new one every {} s",
      error_, folder_.path(),
      is_marked ? "What was saved before is kept in state.stale"
                : "What was saved before could not be renamed to state.stale",
      next_try.count());
  timer_.set_after(next_try);
}

/// Continues with the current log, if there is one.
void StateLog::give_up_new_one() {
  const int error = errno;
  next_.reset();
  folder_.remove("state.new");
  if (!current_) {
    error_ = std::strerror(error);
    if (!std::exchange(has_failed_, true)) {
      ++failures_;
      log_.event(
          LogLevel::error, "state not written",
          "state not saved: {} in {}; changes are lost if the daemon ends; retrying every {} s",
          error_, folder_.path(), next_try.count());
    }
  }
  timer_.set_after(next_try);
}

void StateLog::timer_fired() {
  if (!next_ && (!current_ || is_too_large())) begin_rewrite();
  write();
}

StateReport StateLog::report() const {
  return {is_durable(), current_ ? current_->size() : 0, failures_, rewrites_, error_};
}

}  // namespace bridge
