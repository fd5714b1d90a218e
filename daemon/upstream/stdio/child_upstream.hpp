#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "base/backoff.hpp"
#include "upstream/stdio/child_process.hpp"
#include "upstream/stdio/child_requests.hpp"
#include "upstream/stdio/watcher.hpp"
#include "upstream/upstream.hpp"

namespace bridge {

/// The upstream as a child process that speaks MCP over its stdin and stdout (MCP 2025-11-25,
/// "Transports", stdio; BEHAVIOUR, "Local server").
///
/// A run of the child is one session. When a run ends the session is lost, and the next
/// `initialize` starts another run, if the child was not started again before; but after a
/// short run never sooner than the back-off's first delay, for which it waits here. The end of a
/// message is told when it was written (a notification, an answer) or when the child can answer it
/// no more.
///
/// Memory: the frames that the child has not taken yet, at most max_queued (a frame is admitted to
/// an empty queue whatever its size; over it messages end as `overloaded`); requests until they are
/// answered; one line from the child.
class ChildUpstream final : public Upstream, private ChildProcessEvents, private WatcherEvents {
 public:
  static constexpr std::size_t max_queued = 16u << 20;

  ChildUpstream(EventLoop& loop, ChildOptions options, ByteBudget& budget, Log& log);
  ~ChildUpstream() override;

  void set_events(UpstreamEvents& events) override { events_ = &events; }
  /// Forks the watcher, while there is little to copy; with --spawn start waits until the child
  /// runs.
  void start() override;
  void reconfigure(const UpstreamOptions& options) override;
  void send(Outgoing message) override;
  void abandon(UpstreamId id) override;
  /// Its stdout is everybody's: nothing is paused.
  void pause(UpstreamId, bool) override {}
  void session_opened(const std::string& protocol_version) override;
  /// A session ends with its run, of which nothing is kept.
  void session_over() override {}
  void refresh_connections() override {}
  void give_up_unsent(const Failure& failure) override;
  void end(std::function<void()> done) override;
  std::string_view kind() const override { return "stdio"; }
  std::string_view target() const override { return command_.name(); }
  UpstreamCounts counts() const override { return counts_; }

 private:
  /// An end that must not be told from within send().
  struct Refusal {
    UpstreamId id;
    Ending ending;
  };

  void child_message(std::string line) override;
  void child_oversized_line(std::optional<UpstreamId> answered) override;
  void child_closed(std::string_view what) override;
  void watcher_reported(const WatcherReport& report) override;
  void watcher_gone() override;

  // Runs: child_runs.cpp.
  void need_watcher();
  bool begin_run();
  void ensure_run();
  void restart();
  void run_ended(const WatcherReport& report);
  void finish_run(const Failure& why);
  void tell_end_of(UpstreamId id, const Failure& why, std::uint64_t first_unread);
  void end_step();

  // Messages: child_upstream.cpp.
  std::optional<ChildRequest> take(UpstreamId id);
  void settle(UpstreamId id);
  void refuse(Outgoing message, Failure failure, SessionVerdict verdict);
  void flush();
  void frame_written(QueuedFrame frame);
  void keep(ChildRequest& request, QueuedFrame frame);
  void check_time();
  void watch_time(const ChildRequest& request);
  void expire(UpstreamId id);

  EventLoop& loop_;
  Deferred flush_;
  ChildOptions options_;
  ByteBudget& budget_;
  Log& log_;
  const ChildCommand command_;
  std::array<char, 64u << 10> read_buffer_;
  UpstreamEvents* events_ = nullptr;

  std::unique_ptr<Watcher> watcher_;
  std::unique_ptr<ChildProcess> process_;  ///< from its start to its end
  std::uint32_t run_ = 0;
  SteadyTime run_began_{};
  SteadyTime earliest_run_{};  ///< the next one may not begin sooner
  Backoff backoff_;
  std::vector<Outgoing> openings_;  ///< `initialize` that came before there may be another run

  UpstreamCounts counts_;
  ChildRequests requests_;
  ByteBudget::Share queued_;
  ByteBudget::Share kept_;  ///< requests that are written
  std::vector<Refusal> refusals_;
  std::vector<QueuedFrame> written_;
  bool stream_opened_ = false;  ///< to be told
  SteadyTime heard_{};

  enum class EndStep { none, input_closed, terminated, killed };
  EndStep end_step_ = EndStep::none;
  std::function<void()> ended_;

  DeadlineTimer clock_;  ///< of the requests
  DeadlineTimer restart_;
  DeadlineTimer
      kill_timer_;  ///< of one that has closed a pipe and still runs; of the steps of its end
};

}  // namespace bridge
