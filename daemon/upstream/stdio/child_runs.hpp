#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "upstream/stdio/child_process.hpp"
#include "upstream/stdio/child_shutdown.hpp"
#include "upstream/stdio/watcher.hpp"

namespace bridge {

/// What comes of a local server's runs: told on the loop's thread, in a turn.
class ChildRunEvents : public ChildOutputEvents {
 public:
  /// The run has ended, or could not begin. `dead` lives until the end of the turn; it says nothing
  /// more.
  virtual void child_ended(ChildProcess& dead, const Failure& why) = 0;

 protected:
  ~ChildRunEvents() = default;
};

/// The runs of a local server, one at a time: how they begin, and how they end (BEHAVIOUR, "Local
/// server").
///
/// The loop's thread only; owned by ChildUpstream. Memory: one run's pipes (ChildProcess) and a
/// buffer that is read into.
class ChildRuns final : private ChildPipeEvents, private WatcherEvents {
 public:
  /// `flush` is asked for when a run takes bytes again.
  ChildRuns(EventLoop& loop, const ChildOptions& options, ByteBudget& budget, Log& log,
            ChildRunEvents& events, Deferred& flush);
  ~ChildRuns();

  /// Once, at the daemon's start: forks the watcher, while there is little to copy, and unless it
  /// is lazy waits until the first run is there. Throws StartError (69) if it cannot be.
  void start(bool lazy);
  /// Instead of start(): the watcher and the run that an earlier image of the program had.
  void go_on_with(const KeptRun& kept);
  /// For a later one; none: no watcher was needed yet.
  std::optional<KeptRun> to_keep() const;
  /// REQUIRES: nothing runs. False, and it is logged, if there are no pipes or no process to be
  /// had. That the command itself cannot be run is told later, as the end of the run.
  bool begin();
  /// The run that is on; none: nothing runs.
  ChildProcess* process() const { return process_.get(); }
  /// Ends the run that is on, at once.
  void kill();
  /// Ends it in an orderly way, and tells nobody but by `done` (ChildShutdown).
  void end(std::function<void()> done);

  /// What it is called for people.
  const std::string& name() const { return command_.name(); }
  UpstreamCounts& counts() { return counts_; }
  const UpstreamCounts& counts() const { return counts_; }

 private:
  void child_closed(std::string_view what) override;
  void watcher_reported(const WatcherReport& report) override;
  void watcher_gone() override;

  void need_watcher();
  void ended(const WatcherReport& report);
  void finish(const Failure& why);
  void shut_down(ChildShutdown::Step step);

  const ChildCommand command_;
  ChildProcess::OutputBuffer read_buffer_;
  UpstreamCounts counts_;
  ChildRunEvents& events_;
  const ChildProcess::Context context_;
  std::unique_ptr<Watcher> watcher_;
  std::unique_ptr<ChildProcess> process_;  ///< from its start to its end
  std::uint32_t run_ = 0;
  ChildShutdown shutdown_;
};

}  // namespace bridge
