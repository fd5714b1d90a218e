#include "downstream/unix/pipes_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/contains.hpp"
#include "base/descriptors.hpp"
#include "base/start_error.hpp"
#include "downstream/unix/pipe_entries.hpp"
#include "sockets/listening_socket.hpp"

namespace bridge {
namespace {

constexpr const char* lock_name = ".lock";
constexpr int entries_per_turn = 256;
/// As many as in the accept queue of the socket. Further ones wait without an order.
constexpr std::size_t most_waiting = 512;
/// Between parts of a scan: other clients have their turn.
constexpr std::chrono::milliseconds between_parts{1};
/// What a client has begun to make, and not finished, is removed then.
constexpr std::chrono::seconds unfinished_time{10};
/// Until pipes are tried again that could not be opened without free descriptors.
constexpr std::chrono::seconds shortage_time{1};

std::string path_of(int descriptor) { return fmt::format("/proc/self/fd/{}", descriptor); }

bool is_shortage(int error) { return error == EMFILE || error == ENFILE || error == ENOMEM; }

}  // namespace

PipesOptions with_pipes_path(PipesOptions options, const std::string& socket) {
  if (!options.path.empty()) return options;
  if (socket.starts_with('@'))
    throw StartError(exit_code::usage, "--pipes: the socket is abstract; name a folder");
  options.path = socket + ".pipes";
  return options;
}

PipesFolder::PipesFolder(EventLoop& loop, Log& log, PipeClients& clients, PipesOptions options,
                         std::optional<Saved> earlier)
    : loop_(loop),
      log_(log),
      clients_(clients),
      options_(std::move(options)),
      watch_(loop, [this](std::string_view entry) { entry_came(entry); }),
      keeper_(loop, log, *this, [this] { watch(); }),
      scan_further_(loop, [this] { scan_further(); }),
      sweep_(loop, [this] { scan(); }) {
  if (earlier && earlier->lock >= 0) {
    take_over(*earlier);
  } else {
    make();
  }
}

// Nothing else is removed than what can be made again: what is not a pipe of a client stays.
PipesFolder::~PipesFolder() {
  if (!is_published() || !lock_) return;
  fchmod(folder_.get(), 0700);
  const std::unique_ptr<DIR, CloseFolder> all(opendir(path_of(folder_.get()).c_str()));
  bool is_empty = all != nullptr;
  while (const dirent* const entry = all ? readdir(all.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != ".." && name != lock_name)
      is_empty = unlink_entry(entry->d_name) && is_empty;
  }
  if (!is_empty) return;
  unlinkat(folder_.get(), lock_name, 0);
  rmdir(options_.path.c_str());
}

namespace {

[[noreturn]] void refuse(const PipesOptions& options, std::string_view why) {
  refuse_socket(fmt::format("pipes folder {} {}; name another folder with --pipes",
                            printable(options.path), why));
}

[[noreturn]] void refuse_with_errno(const PipesOptions& options, std::string_view what) {
  refuse(options, fmt::format("cannot be {}: {}", what, std::strerror(errno)));
}

Descriptor open_folder(const PipesOptions& options) {
  Descriptor folder(::open(options.path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder) refuse_with_errno(options, "opened");
  struct stat status {};
  if (fstat(folder.get(), &status) != 0 || status.st_uid != geteuid())
    refuse(options, fmt::format("belongs to uid {}", status.st_uid));
  return folder;
}

/// The lock, not locked. It also tells that an existing folder is of a daemon: what it contains may
/// be removed.
Descriptor open_lock(const PipesOptions& options, const Descriptor& folder, bool is_new) {
  constexpr int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  Descriptor lock(openat(folder.get(), lock_name, flags));
  if (!lock && errno == ENOENT && is_new)
    lock = Descriptor(openat(folder.get(), lock_name, flags | O_CREAT | O_EXCL, 0600));
  if (!lock && errno == ENOENT) refuse(options, "exists and was not made by a daemon");
  struct stat status {};
  if (!lock || fstat(lock.get(), &status) != 0) refuse_with_errno(options, "locked");
  if (!S_ISREG(status.st_mode) || status.st_uid != geteuid() || status.st_nlink != 1)
    refuse(options, "has a lock of another user");
  return lock;
}

}  // namespace

void PipesFolder::check(const PipesOptions& options) {
  std::string path = options.path;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  struct stat status {};
  if (lstat(path.c_str(), &status) == 0) {
    open_lock(options, open_folder(options), false);
  } else if (errno != ENOENT || access(folder_of(path).c_str(), W_OK | X_OK) != 0) {
    refuse_with_errno(options, "made");
  }
}

void PipesFolder::make() {
  lock_ = Descriptor();
  const bool is_new = mkdir(options_.path.c_str(), 0700) == 0;
  if (!is_new && errno != EEXIST) refuse_with_errno(options_, "made");
  folder_ = open_folder(options_);
  Descriptor lock = open_lock(options_, folder_, is_new);
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) refuse(options_, "is served by another daemon");
  lock_ = std::move(lock);
  // The group first: a change of it may clear bits of the mode.
  if ((options_.group && fchown(folder_.get(), static_cast<uid_t>(-1), *options_.group) != 0) ||
      fchmod(folder_.get(), options_.mode) != 0)
    refuse_with_errno(options_, "given its mode or group");
}

/// If the folder is no longer that of the previous process, start() reports it and makes another.
void PipesFolder::take_over(Saved earlier) {
  lock_ = Descriptor(earlier.lock);
  folder_ =
      Descriptor(::open(options_.path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat held {};
  struct stat named {};
  const bool is_ours = folder_ && fstat(lock_.get(), &held) == 0 &&
                       fstatat(folder_.get(), lock_name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
                       held.st_ino == named.st_ino && held.st_dev == named.st_dev;
  if (!is_ours) folder_ = Descriptor();
}

bool PipesFolder::is_published() const {
  return folder_ && is_same_file(folder_.get(), options_.path);
}

void PipesFolder::publish_again() {
  scan_.reset();
  try {
    make();
  } catch (const StartError&) {
    folder_ = Descriptor();
    throw;
  }
}

void PipesFolder::start() {
  if (is_published()) watch();
  keeper_.start();
}

void PipesFolder::stop() {
  stopped_ = true;
  keeper_.stop();
  watch_.end();
  scan_.reset();
  scan_further_.clear();
  sweep_.clear();
}

/// Before the first look, so that no later entry is missed.
void PipesFolder::watch() {
  const bool watches =
      watch_.begin() && watch_.add(path_of(folder_.get()), IN_CREATE | IN_MOVED_TO | IN_ONLYDIR);
  if (!watches) {
    log_.event(LogLevel::error, "pipes not watched",
               "pipes folder {} cannot be watched: {} (fs.inotify.max_user_instances, "
               "max_user_watches); clients in it are not noticed",
               printable(options_.path), std::strerror(errno));
  }
  scan();
}

void PipesFolder::look_again() {
  while (!waiting_.empty() && clients_.has_room()) {
    const std::string name = std::move(waiting_.front());
    waiting_.pop_front();
    take_pipes(name);
  }
  if (waiting_.empty() && std::exchange(more_wait_, false)) scan();
}

/// Empty: the kernel has dropped events.
void PipesFolder::entry_came(std::string_view entry) {
  if (stopped_) return;
  if (entry.empty()) {
    scan();
  } else {
    handle(entry);
  }
}

void PipesFolder::scan() {
  if (stopped_ || !folder_) return;
  scan_.reset(opendir(path_of(folder_.get()).c_str()));
  scan_further();
}

void PipesFolder::scan_further() {
  for (int entries = 0; scan_ && entries < entries_per_turn; ++entries) {
    const dirent* const entry = readdir(scan_.get());
    if (entry == nullptr) {
      scan_.reset();
    } else if (const std::string name = entry->d_name; name != "." && name != "..") {
      handle(name);
    }
  }
  if (scan_) scan_further_.set_after(between_parts);
}

void PipesFolder::handle(std::string_view name) {
  const std::string entry(name);
  const PipeEntry read = read_pipe_entry(entry);
  switch (read.kind) {
    case PipeEntryKind::request:
      if (clients_.has_room() && waiting_.empty()) {
        take_pipes(read.name);
      } else {
        let_wait(read.name);
      }
      break;
    case PipeEntryKind::response:
    case PipeEntryKind::unfinished: expire(entry); break;
    case PipeEntryKind::lock: break;
    case PipeEntryKind::foreign: remove(entry, "it is not a pipe's name"); break;
  }
}

/// Removes what is there for too long, by the time of its last change; else it is looked at later.
void PipesFolder::expire(const std::string& entry) {
  struct stat status {};
  if (fstatat(folder_.get(), entry.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return;
  const auto changed = WallTime(std::chrono::seconds(status.st_ctim.tv_sec));
  const auto age = loop_.wall_time() - changed;
  if (age > -unfinished_time && age < unfinished_time) {
    sweep_.set_at_latest(loop_.now() + unfinished_time);
  } else if (waiting_.empty()) {  // else it may belong to a client that waits
    remove(entry, "it was not finished");
  }
}

/// In the order of arrival.
void PipesFolder::let_wait(std::string_view name) {
  if (contains(waiting_, name)) return;
  if (waiting_.size() < most_waiting) {
    waiting_.emplace_back(name);
  } else {
    more_wait_ = true;
  }
}

void PipesFolder::take_pipes(std::string_view name) {
  const std::string fault = open_pipes(name);
  if (fault.empty()) return;
  remove(std::string(name) + ".in", fault);
  unlink_entry(std::string(name) + ".out");
}

/// A descriptor that gives no access, and follows no link.
Descriptor PipesFolder::look_at(const std::string& entry) const {
  return Descriptor(openat(folder_.get(), entry.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
}

/// Hands a client over; returns why there is none, or nothing if it is gone or waits. A FIFO is
/// opened through the descriptor by which it was judged: another file at its name is never opened.
std::string PipesFolder::open_pipes(std::string_view name) {
  const std::string in_entry = std::string(name) + ".in";
  const std::string out_entry = std::string(name) + ".out";
  const Descriptor in_place = look_at(in_entry);
  if (!in_place && errno == ENOENT) return {};  // was taken when it was seen before
  const Descriptor out_place = in_place ? look_at(out_entry) : Descriptor();
  struct stat in_status {};
  struct stat out_status {};
  if (!in_place || !out_place || fstat(in_place.get(), &in_status) != 0 ||
      fstat(out_place.get(), &out_status) != 0) {
    if (is_shortage(errno)) {
      log_.peer(LogLevel::error, "accepting paused", "cannot open a client's pipes: {}",
                descriptor_shortage());
      sweep_.set_at_latest(loop_.now() + shortage_time);
      return {};
    }
    return fmt::format("'out': {}", std::strerror(errno));
  }
  if (std::string fault = fault_of_pipes(in_status, out_status); !fault.empty()) return fault;
  constexpr int flags = O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
  Descriptor in(::open(path_of(in_place.get()).c_str(), O_RDONLY | flags));
  Descriptor out(in ? ::open(path_of(out_place.get()).c_str(), O_WRONLY | flags) : -1);
  if (!in || !out) {
    if (errno == ENXIO) return "'out' is not open for reading";
    return fmt::format("cannot be opened: {}", std::strerror(errno));
  }
  unlinkat(folder_.get(), in_entry.c_str(), 0);
  unlinkat(folder_.get(), out_entry.c_str(), 0);
  // By another name someone else could open them.
  if (fstat(in.get(), &in_status) != 0 || fstat(out.get(), &out_status) != 0 ||
      in_status.st_nlink != 0 || out_status.st_nlink != 0)
    return "they have other names";
  clients_.pipes_opened({in.release(), out.release()}, in_status.st_uid, in_status.st_gid);
  return {};
}

bool PipesFolder::unlink_entry(const std::string& entry) const {
  return unlinkat(folder_.get(), entry.c_str(), 0) == 0 || errno == ENOENT ||
         unlinkat(folder_.get(), entry.c_str(), AT_REMOVEDIR) == 0;
}

void PipesFolder::remove(const std::string& entry, std::string_view why) {
  const bool is_removed = unlink_entry(entry);
  log_.peer(LogLevel::warning, "pipe refused", "{} {} in pipes folder {}: {}",
            is_removed ? "removed" : "cannot remove", printable(entry), printable(options_.path),
            why);
}

}  // namespace bridge
