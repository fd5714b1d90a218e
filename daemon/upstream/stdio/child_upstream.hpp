#pragma once

#include <string>
#include <vector>

#include "upstream/stdio/child_requests.hpp"
#include "upstream/stdio/child_runs.hpp"
#include "upstream/stdio/restart_pace.hpp"
#include "upstream/untold_endings.hpp"
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
/// The loop's thread only; owned by the daemon. No bound of time is suspended by anything; times
/// are those of ChildOptions, in milliseconds. Whatever becomes of a message is a value, an Ending.
///
/// Memory: the frames that the child has not taken yet, at most max_queued (a frame is admitted to
/// an empty queue whatever its size; over it messages end as `overloaded`); requests until they are
/// answered; one line from the child.
class ChildUpstream final : public Upstream, private ChildRunEvents {
 public:
  static constexpr std::size_t max_queued = 16u << 20;

  ChildUpstream(EventLoop& loop, ChildOptions options, ByteBudget& budget, Log& log);

  void set_events(UpstreamEvents& events) override { events_ = &events; }
  void start() override;
  void reconfigure(const UpstreamOptions& options) override;
  void send(Outgoing&& message) override;
  void abandon(UpstreamId id) override;
  /// Its stdout is everybody's: nothing is paused.
  void pause(UpstreamId, bool) override {}
  void lift_deadline(UpstreamId id) override {
    if (ChildRequest* const request = requests_.find(id)) request->message.endless = true;
  }
  void hold_deadline(UpstreamId id, bool held) override {
    requests_.hold_deadline(id, held, loop_.now());
    check_time();
  }
  void session_opened(const std::string& protocol_version) override;
  /// If its run goes on.
  bool session_continued(const std::string& protocol_version,
                         const SessionReference& reference) override;
  std::optional<KeptRun> run_to_keep() const override { return runs_.to_keep(); }
  void go_on_with(const KeptRun& run) override;
  bool survives_upgrade(UpstreamId id) const override { return requests_.find(id) != nullptr; }
  std::vector<KeptMessage> messages_to_keep() const override {
    return requests_.to_keep(loop_.now());
  }
  bool go_on_with(KeptMessage&& message) override;
  /// A session ends with its run, of which nothing is kept.
  void session_over() override {}
  void refresh_connections() override {}
  void give_up_unsent(const Failure& failure) override;
  void end(std::function<void()> done) override;
  bool has_answer_streams() const override { return false; }
  std::string_view kind() const override { return "stdio"; }
  std::string_view target() const override { return runs_.name(); }
  UpstreamCounts counts() const override { return runs_.counts(); }

 private:
  void child_message(ReceivedText line) override;
  void child_oversized_line(std::optional<UpstreamId> answered) override;
  void child_ended(ChildProcess& dead, const Failure& why) override;

  void begin_run();
  void restart();
  void tell_end_of(UpstreamId id, const Failure& why, std::uint64_t first_unread);
  void refuse(Outgoing message, Failure failure, SessionVerdict verdict);
  void flush();
  void frame_written(QueuedFrame frame);
  void watch_time(const ChildRequest& request);
  void check_time();
  void expire(UpstreamId id);

  EventLoop& loop_;
  const ChildOptions options_;
  Deferred flush_;
  UpstreamEvents* events_ = nullptr;
  ChildRuns runs_;
  RestartPace pace_;
  std::vector<Outgoing> openings_;  ///< `initialize` that came before there may be another run
  ChildRequests requests_;
  DeadlineTimer clock_;  ///< of the requests
  UntoldEndings untold_;
  std::vector<QueuedFrame> written_;  ///< empty between two writes
  bool stream_opened_ = false;        ///< to be told
};

}  // namespace bridge
