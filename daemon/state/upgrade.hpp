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

#include "base/descriptor.hpp"
#include "base/log.hpp"
#include "event/event_loop.hpp"
#include "process/command_run.hpp"

namespace bridge {

/// What takes the place of this image of the program.
struct NextImage {
  int program = -1;  ///< open_program()
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::vector<int> descriptors;  ///< that stay open beside 0, 1 and 2
};

/// Executes it in this process: does not return unless that fails; then all is as before, and errno
/// says why.
void replace_image(NextImage next);

/// Of `environment` (as environ), what is read before main() runs: by the loader, the allocator and
/// sanitizers. The rest goes another way, where nobody sees it.
std::vector<std::string> environment_of_loader(const std::vector<std::string>& environment);

/// One run of another program with `--check-state`: can it read the state? It has 5 s, nothing of
/// ours is open in it but the state, and what it says at its end must be `proof`, which stands in
/// the state; its exit status alone says nothing.
///
/// The loop's thread only; nothing blocks. `done` comes once, from the loop, and may destroy this;
/// it gets the reason why not, or an empty text. Destruction kills the run.
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
/// does not lead to this program, the kernel's word. REQUIRES: called at the start, before another
/// file can have taken the place.
std::string program_as_started(const std::string& name);

/// Copies the program at `path` into memory to be checked and executed, or says why it is not: it
/// must be a file of root's or of our own user that only they can write, in folders of which the
/// same holds. The copy is sealed, and can be executed but not read: so the kernel lets no other
/// process of the same user inspect the process that executes it, from its first instant on
/// (ptrace(2), "PTRACE_MODE"; execve(2)). REQUIRES then: FileCapabilitiesOff around the execution.
std::variant<Descriptor, std::string> open_program(const std::string& path);

/// While it lives, a process of root does not read files that it may not (CAP_DAC_OVERRIDE and
/// CAP_DAC_READ_SEARCH are not effective); what is executed meanwhile has them again.
class FileCapabilitiesOff {
 public:
  FileCapabilitiesOff();
  ~FileCapabilitiesOff();
  FileCapabilitiesOff(const FileCapabilitiesOff&) = delete;
  FileCapabilitiesOff& operator=(const FileCapabilitiesOff&) = delete;

 private:
  std::array<std::uint32_t, 6> before_{};  ///< of the calling thread, as capget(2) gives them
  bool changed_ = false;
};

// How one process of the daemon starts the next: as the first argument, with the descriptor of the
// snapshot behind it.
constexpr std::string_view check_option = "--check-state";
constexpr std::string_view take_over_option = "--take-over";

/// What the next process starts with.
struct UpgradeOrder {
  std::string program;  ///< the path as it was started
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::string snapshot;          ///< of all parts, as bytes
  std::vector<int> descriptors;  ///< that it names
  std::string proof;             ///< stands in the snapshot: what can say it has read it
  std::string fault;             ///< why it cannot be restored; empty: it can
};

/// What is upgraded: the daemon, as this folder sees it. Implemented by the Daemon.
class Upgradable {
 public:
  /// All of it, as it is between two turns.
  virtual UpgradeOrder order_upgrade() = 0;
  /// Nothing of clients is read or started any more; what is in flight goes on.
  virtual void pause() = 0;
  /// Nothing is in flight.
  virtual bool is_quiet() const = 0;
  /// What still is ends so.
  virtual void end_unfinished() = 0;
  /// It comes to nothing: all goes on as before.
  virtual void resume() = 0;
  /// After resume(), if that was necessary: the reason, printable.
  virtual void upgrade_failed(const std::string& why) = 0;
  /// It is time: the loop is to stop, for Upgrade::replace() to be called outside of it.
  virtual void stop_for_upgrade() = 0;
  virtual std::chrono::milliseconds grace() const = 0;

 protected:
  ~Upgradable() = default;
};

/// SIGUSR2: another image of the program takes the place of this one, in the same process
/// (BEHAVIOUR, "Upgrade in place"). The program is opened once; it must show that it can read the
/// state; then the daemon comes to rest, for --grace at most; then the program is executed. Until
/// that last step, whatever fails leaves the daemon as it was.
///
/// Owned by the daemon; the loop's thread only. One at a time. Memory: the state once, sealed.
class Upgrade {
 public:
  Upgrade(EventLoop& loop, Upgradable& daemon, Log& log);

  void begin();
  /// The daemon is ending: that goes first.
  void cancel();
  bool has_begun() const { return phase_ != Phase::idle; }
  /// After each turn: whether the daemon has come to rest.
  void look();
  /// The loop was stopped for it. REQUIRED then: replace().
  bool is_ready() const { return phase_ == Phase::ready; }
  /// Outside of the loop, with all signals blocked. Returns only if it cannot be done.
  void replace();

 private:
  enum class Phase : std::uint8_t {
    idle,
    checking,  ///< the other program reads the state
    resting,   ///< what is in flight has its grace
    ending,    ///< and what was left of it is being told to the upstream
    ready,
  };

  void checked(const std::string& refusal);
  void time_is_over();
  void fail(std::string_view why);
  NextImage next_image(const UpgradeOrder& order, const Descriptor& file) const;

  EventLoop& loop_;
  Upgradable& daemon_;
  Log& log_;
  Phase phase_ = Phase::idle;
  Descriptor program_;
  std::unique_ptr<ProgramCheck> check_;
  DeadlineTimer timer_;
};

}  // namespace bridge
