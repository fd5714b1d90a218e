#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/files.hpp"
#include "base/log.hpp"
#include "event/event_loop.hpp"
#include "process/command_run.hpp"

namespace bridge {

/// The program that replaces this one in the same process.
struct NextProgram {
  int program = -1;  ///< open_program()
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::vector<int> descriptors;  ///< those that stay open besides 0, 1 and 2
};

/// Executes it in this process. Returns only on failure, with nothing changed, and
/// errno set.
void replace_program(NextProgram next);

/// The part of `environment` (as environ) that is read before main() runs: by the loader, the
/// allocator and sanitizers. The rest is passed in another way, hidden from other users.
std::vector<std::string> environment_of_loader(const std::vector<std::string>& environment);

/// One run of another program with `--check-state`: whether it can read the state. It has 5 s, of
/// our descriptors only that of the state, and must end its output with `proof`, which is in the
/// state; its exit status alone is not enough.
///
/// The loop's thread only; never blocks. `done` is called once, from the loop, and may destroy
/// this; it gets the error, or an empty text. Destruction kills the run.
class ProgramCheck {
 public:
  using Done = std::function<void(const std::string& refusal)>;

  ProgramCheck(EventLoop& loop, const Descriptor& program, const Descriptor& state,
               std::string proof, std::vector<std::string> arguments,
               std::vector<std::string> environment, Done done);

 private:
  void ended(const CommandOutput& output);

  std::string proof_;
  Done done_;
  std::unique_ptr<CommandRun> run_;
};

/// The path by which this process was started, links kept; `name` is its first argument. If that
/// does not lead to this program, the path reported by the kernel. REQUIRES: called at the start,
/// before the file can have been replaced.
std::string program_as_started(const std::string& name);

/// Copies the program at `path` into memory to be checked and executed, or returns the error: it
/// must be a file of root or our own user that only they can write to, in folders of which the same
/// holds. The copy is sealed, and can be executed but not read: so the kernel does not let other
/// processes of the same user inspect the process that executes it, from the first instant on
/// (ptrace(2), "PTRACE_MODE"; execve(2)). REQUIRES then: FileCapabilitiesOff around the execution.
std::variant<Descriptor, std::string> open_program(const std::string& path);

/// During its lifetime, a root process cannot read files without permission (CAP_DAC_OVERRIDE and
/// CAP_DAC_READ_SEARCH are not effective); a program executed meanwhile has them again.
class FileCapabilitiesOff {
 public:
  FileCapabilitiesOff();
  ~FileCapabilitiesOff();
  FileCapabilitiesOff(const FileCapabilitiesOff&) = delete;
  FileCapabilitiesOff& operator=(const FileCapabilitiesOff&) = delete;

 private:
  std::array<std::uint32_t, 6> before_{};  ///< of the calling thread, as returned by capget(2)
  bool changed_ = false;
};

// How one process of the daemon starts the next: as the first argument, followed by the descriptor
// of the snapshot.
constexpr std::string_view check_option = "--check-state";
constexpr std::string_view take_over_option = "--take-over";

/// The data that the next process starts with.
struct UpgradeOrder {
  std::string program;  ///< the path as it was started
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::string snapshot;          ///< of all parts, as bytes
  std::vector<int> descriptors;  ///< those that it names
  std::string proof;             ///< in the snapshot; shows that a program has read it
  std::string fault;             ///< why it cannot be restored; empty: it can
};

/// What is upgraded: the daemon, as this folder sees it. Implemented by the Daemon.
class Upgradable {
 public:
  /// The snapshot of all parts. REQUIRES: between two turns.
  virtual UpgradeOrder order_upgrade() = 0;
  /// Stops reading from clients and starting requests; those in flight continue.
  virtual void pause() = 0;
  /// Whether nothing is in flight.
  virtual bool is_quiet() const = 0;
  /// Ends what is still in flight.
  virtual void end_unfinished() = 0;
  /// The upgrade has failed or was cancelled: continues as before.
  virtual void resume() = 0;
  /// After resume(), if that was necessary: the reason, printable.
  virtual void upgrade_failed(const std::string& why) = 0;
  /// Stops the loop, so that Upgrade::replace() can be called outside of it.
  virtual void stop_for_upgrade() = 0;
  virtual std::chrono::milliseconds grace() const = 0;

 protected:
  ~Upgradable() = default;
};

/// SIGUSR2: another version of the program replaces this one in the same process (BEHAVIOUR,
/// "Upgrade in place"). The program is opened once; it must prove that it can read the state; then
/// the daemon finishes what is in flight, within --grace; then the program is executed. A failure
/// before that last step leaves the daemon unchanged.
///
/// Owned by the daemon; the loop's thread only. One at a time. Memory: the state once, sealed.
class Upgrade {
 public:
  Upgrade(EventLoop& loop, Upgradable& daemon, Log& log);

  void begin();
  /// The daemon is shutting down, which has precedence.
  void cancel();
  bool has_begun() const { return phase_ != Phase::idle; }
  /// After each turn: checks whether the daemon is quiet.
  void look();
  /// The loop was stopped for the upgrade. REQUIRED then: replace().
  bool is_ready() const { return phase_ == Phase::ready; }
  /// Called outside of the loop, with all signals blocked. Returns only on failure.
  void replace();

 private:
  enum class Phase : std::uint8_t {
    idle,
    checking,  ///< the other program reads the state
    resting,   ///< waits for what is in flight, within --grace
    ending,    ///< the upstream is told of what was given up
    ready,
  };

  void checked(const std::string& refusal);
  void time_is_over();
  void fail(std::string_view why);
  NextProgram next_program(const UpgradeOrder& order, const Descriptor& file) const;

  EventLoop& loop_;
  Upgradable& daemon_;
  Log& log_;
  Phase phase_ = Phase::idle;
  Descriptor program_;
  std::unique_ptr<ProgramCheck> check_;
  DeadlineTimer timer_;
};

}  // namespace bridge
