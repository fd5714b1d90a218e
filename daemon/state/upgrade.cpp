#include "state/upgrade.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>
#include <variant>

#include "base/files.hpp"
#include "base/log.hpp"
#include "process/command_run.hpp"
#include "process/process_start.hpp"
#include "state/memory_file.hpp"

namespace bridge {

void replace_program(NextProgram next) {
  const std::vector<char*> arguments = pointers_to(next.arguments);
  const std::vector<char*> environment = pointers_to(next.environment);
  // Includes descriptors opened by libraries. On failure those with close-on-exec keep it.
  close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  for (const int descriptor : next.descriptors) fcntl(descriptor, F_SETFD, 0);
  const FileCapabilitiesOff until_it_fails;
  execveat(next.program, "", arguments.data(), environment.data(), AT_EMPTY_PATH);
  const int error = errno;
  for (const int descriptor : next.descriptors) fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  errno = error;
}

std::vector<std::string> environment_of_loader(const std::vector<std::string>& environment) {
  constexpr std::array<std::string_view, 8> read_early = {
      "LD_",           "GLIBC_TUNABLES=", "MALLOC_",       "ASAN_OPTIONS=",
      "LSAN_OPTIONS=", "UBSAN_OPTIONS=",  "TSAN_OPTIONS=", "LLVM_PROFILE_FILE="};
  std::vector<std::string> kept;
  for (const std::string& variable : environment) {
    if (std::any_of(read_early.begin(), read_early.end(),
                    [&](std::string_view name) { return variable.starts_with(name); }))
      kept.push_back(variable);
  }
  return kept;
}

namespace {

constexpr std::chrono::milliseconds longest_check{5000};
constexpr int state_place = 3;
constexpr int program_place = 4;

}  // namespace

ProgramCheck::ProgramCheck(EventLoop& loop, const Descriptor& program, const Descriptor& state,
                           std::string proof, std::vector<std::string> arguments,
                           std::vector<std::string> environment, Done done)
    : proof_(std::move(proof)), done_(std::move(done)) {
  ProcessOrder order;
  order.path = fmt::format("/proc/self/fd/{}", program_place);
  order.arguments = std::move(arguments);
  order.environment = std::move(environment);
  order.descriptors = {{state.get(), state_place}, {program.get(), program_place}};
  // With unchanged numbers, by which they are named.
  for (const int one : named_descriptors(order.arguments)) {
    if (one == order.descriptors.back().second + 1) order.descriptors.emplace_back(one, one);
  }
  CommandLimits limits;
  limits.time = longest_check;
  limits.out = 4096;
  const FileCapabilitiesOff during_the_start;
  run_ = std::make_unique<CommandRun>(loop, spawn_process(std::move(order)), limits,
                                      [this](const CommandOutput& output) { ended(output); });
}

void ProgramCheck::ended(const CommandOutput& output) {
  std::string refusal;
  if (!output.fault.empty()) {
    refusal = output.fault;
  } else if (output.out != proof_ + "\n") {
    refusal = "it has not shown that it read the state";
  }
  if (!refusal.empty() && !output.err.empty()) refusal += ": " + printable(output.err, 400);
  const Done done = std::move(done_);
  done(refusal);
}

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
  const std::string folder = current_folder();
  return folder.empty() ? path : folder + "/" + path;
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

/// Whether only root and our own user can write to it.
bool is_ours_alone(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && is_of_owner_alone(status);
}

/// A copy of `file` in memory that can be executed and not read. On failure none, with
/// errno.
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
  // A file that is open for writing cannot be executed.
  const std::string path = fmt::format("/proc/self/fd/{}", copy.get());
  if (!seal(copy.get()) || fchmod(copy.get(), 0111) != 0) return {};
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
  if (!is_of_owner_alone(status)) return because("another user can write it");
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
  without[0] &= ~files;  // the effective ones of the first set
  changed_ = without != before_ && syscall(SYS_capset, &header, without.data()) == 0;
}

FileCapabilitiesOff::~FileCapabilitiesOff() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  if (changed_) syscall(SYS_capset, &header, before_.data());
}

namespace {

/// Time to tell the upstream what was given up.
constexpr std::chrono::milliseconds last_words_time{500};

}  // namespace

Upgrade::Upgrade(EventLoop& loop, Upgradable& daemon, Log& log)
    : loop_(loop), daemon_(daemon), log_(log), timer_(loop, [this] { time_is_over(); }) {}

void Upgrade::begin() {
  if (phase_ != Phase::idle) {
    log_.event(LogLevel::info, "upgrade", "SIGUSR2: an upgrade is under way already: ignored");
    return;
  }
  UpgradeOrder order = daemon_.order_upgrade();
  if (!order.fault.empty()) {
    fail(order.fault);
    return;
  }
  auto opened = open_program(order.program);
  if (const auto* reason = std::get_if<std::string>(&opened)) {
    fail(*reason);
    return;
  }
  program_ = std::move(std::get<Descriptor>(opened));
  std::vector<std::string> arguments = redacted_arguments(order.arguments);
  const Descriptor file = make_memory_file(order.snapshot);
  if (!file) {
    fail(std::strerror(errno));
    return;
  }
  phase_ = Phase::checking;
  log_.event(LogLevel::info, "upgrade", "SIGUSR2: checking whether {} can take over",
             order.program);
  arguments.insert(arguments.begin() + 1, {std::string(check_option), "3"});
  check_ =
      std::make_unique<ProgramCheck>(loop_, program_, file, std::move(order.proof),
                                     std::move(arguments), environment_of_loader(order.environment),
                                     [this](const std::string& refusal) { checked(refusal); });
}

void Upgrade::checked(const std::string& refusal) {
  if (!refusal.empty()) {
    fail(refusal);
    return;
  }
  phase_ = Phase::resting;
  daemon_.pause();
  timer_.set_after(daemon_.grace());
}

// The next step has a turn of its own.
void Upgrade::look() {
  if ((phase_ == Phase::resting || phase_ == Phase::ending) && daemon_.is_quiet())
    timer_.set_at_latest(loop_.now());
}

void Upgrade::time_is_over() {
  if (phase_ == Phase::resting) {
    phase_ = Phase::ending;
    daemon_.end_unfinished();
    timer_.set_after(last_words_time);
  } else if (phase_ == Phase::ending) {
    phase_ = Phase::ready;
    daemon_.stop_for_upgrade();
  }
}

void Upgrade::cancel() {
  const bool was_paused = phase_ >= Phase::resting;
  phase_ = Phase::idle;
  check_.reset();
  program_ = {};
  timer_.clear();
  if (was_paused) daemon_.resume();
}

void Upgrade::fail(std::string_view why) {
  const std::string reason = printable(why, 600);
  log_.event(LogLevel::error, "upgrade",
             "SIGUSR2: upgrade failed; continuing with the old version: {}", reason);
  cancel();
  daemon_.upgrade_failed(reason);
}

NextProgram Upgrade::next_program(const UpgradeOrder& order, const Descriptor& file) const {
  NextProgram next;
  next.program = program_.get();
  next.arguments = redacted_arguments(order.arguments);
  next.arguments.insert(next.arguments.begin() + 1,
                        {std::string(take_over_option), std::to_string(file.get())});
  next.environment = environment_of_loader(order.environment);
  next.descriptors = order.descriptors;
  next.descriptors.push_back(file.get());
  for (const int one : named_descriptors(order.arguments)) next.descriptors.push_back(one);
  return next;
}

void Upgrade::replace() {
  const UpgradeOrder order = daemon_.order_upgrade();
  if (!order.fault.empty()) {
    fail(order.fault);
    return;
  }
  const Descriptor file = make_memory_file(order.snapshot);
  if (file) replace_program(next_program(order, file));
  fail(std::strerror(errno));
}

}  // namespace bridge
