#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "event/event_loop.hpp"
#include "upstream/stdio/child_process.hpp"
#include "upstream/stdio/watcher.hpp"

namespace bridge {

/// How a run of a local server is ended (MCP 2025-11-25, "Lifecycle", "Shutdown", stdio): its stdin
/// is closed; after 1 s it gets SIGTERM, after another SIGKILL; 300 ms later it is given up. In
/// total less than Upstream::end() has. A run that closes a pipe itself has 500 ms to end.
///
/// The loop's thread only; a part of ChildRuns, which executes the steps.
class ChildShutdown {
 public:
  enum class Step : std::uint8_t {
    none,          ///< keeps running
    input_closed,  ///< its stdin is closed
    terminated,
    killed,
  };

  /// `act` executes the given step; `none`: a run that has closed a pipe hangs.
  ChildShutdown(EventLoop& loop, std::function<void(Step)> act)
      : act_(std::move(act)), timer_(loop, [this] { next(); }) {}

  bool is_under_way() const { return step_ != Step::none; }
  /// `done` is called once, when the run has ended or is given up.
  void begin(std::function<void()> done) {
    done_ = std::move(done);
    enter(Step::input_closed, std::chrono::seconds(1));
  }
  /// The run has closed its stdin or stdout.
  void pipe_closed() {
    if (!is_under_way() && !timer_.is_set()) timer_.set_after(std::chrono::milliseconds(500));
  }
  /// The run has ended.
  void run_ended() {
    timer_.clear();
    finish();
  }

 private:
  void enter(Step step, std::chrono::milliseconds time) {
    step_ = step;
    timer_.set_after(time);
    act_(step);
  }
  void next() {
    switch (step_) {
      case Step::none: act_(step_); break;
      case Step::input_closed: enter(Step::terminated, std::chrono::seconds(1)); break;
      case Step::terminated: enter(Step::killed, std::chrono::milliseconds(300)); break;
      case Step::killed: finish(); break;
    }
  }
  void finish() {
    if (const auto done = std::exchange(done_, nullptr)) done();
  }

  std::function<void(Step)> act_;
  Step step_ = Step::none;
  std::function<void()> done_;
  DeadlineTimer timer_;
};

class ChildUpstream;

/// The runs of a local server, one at a time: start and end (BEHAVIOUR, "Local server").
///
/// The loop's thread only; owned by ChildUpstream. Memory: one run's pipes (ChildProcess) and a
/// read buffer.
class ChildRuns {
 public:
  /// `flush` is requested when a run accepts bytes again.
  ChildRuns(EventLoop& loop, const ChildOptions& options, ByteBudget& budget, Log& log,
            ChildUpstream& owner, Deferred& flush);
  ~ChildRuns();

  /// Called once, at the daemon's start: forks the watcher, while there is little memory to copy,
  /// and unless `lazy` waits for the first run. Throws StartError (69) if it cannot start.
  void start(bool lazy);
  SavedRun save() const;
  /// Instead of start(): takes over the watcher and run of the previous process.
  void restore(const SavedRun& saved);
  /// REQUIRES: no run. False, and logged, without pipes or a process. A command that cannot be
  /// executed is reported later, as the end of the run.
  bool begin();
  /// The current run; null: none.
  ChildProcess* process() const { return process_.get(); }
  /// Ends the current run at once.
  void kill();
  /// Ends it in an orderly way (ChildShutdown); only `done` reports it.
  void end_run(std::function<void()> done);

  /// The name shown to people.
  const std::string& name() const { return command_.name(); }
  UpstreamCounts& counts() { return counts_; }
  const UpstreamCounts& counts() const { return counts_; }

 private:
  // From the ChildProcess.
  friend class ChildProcess;
  /// It has closed its stdin or stdout (`what`). Nothing more follows.
  void child_closed(std::string_view what);

  // From the Watcher.
  friend class Watcher;
  void watcher_reported(const WatcherReport& report);
  /// The watcher was killed: the daemon kills what it watched and replaces it.
  void watcher_gone();

  void need_watcher();
  void ended(const WatcherReport& report);
  void finish(const Failure& why);
  void shut_down(ChildShutdown::Step step);

  const ChildCommand command_;
  const SecretForms secrets_;  ///< of command_
  ChildProcess::OutputBuffer read_buffer_;
  UpstreamCounts counts_;
  ChildUpstream& owner_;
  const ChildProcess::Context context_;
  std::unique_ptr<Watcher> watcher_;
  std::unique_ptr<ChildProcess> process_;  ///< from start to end
  std::uint32_t run_ = 0;
  ChildShutdown shutdown_;
};

}  // namespace bridge
