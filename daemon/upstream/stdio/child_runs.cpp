// The runs of a child: how they begin, and what their end means for everybody.
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/start_error.hpp"
#include "upstream/stdio/child_upstream.hpp"

namespace bridge {
namespace {

/// For the first report at the daemon's start. Only a file system that hangs takes so long.
constexpr int start_timeout_ms = 10000;
/// One that has closed a pipe is about to end; if not, it is ended.
constexpr std::chrono::milliseconds closing_time{500};
/// The steps of an orderly end: stdin closed, SIGTERM, SIGKILL. In all less than Upstream::end()
/// has.
constexpr std::chrono::milliseconds after_closing{1000};
constexpr std::chrono::milliseconds after_term{1000};
constexpr std::chrono::milliseconds after_kill{300};
/// A run that lived this long was a good one.
constexpr std::chrono::seconds good_life{30};

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return fmt::format("was ended by signal {}", WTERMSIG(status));
  return fmt::format("ended with exit code {}", WEXITSTATUS(status));
}

std::string why_it_cannot_run(const WatcherReport& report, const ChildCommand& command) {
  const std::string reason = std::strerror(report.value);
  if (report.kind == WatcherReport::Kind::bad_folder) {
    return fmt::format("cannot run {} in {}: {}", command.name(), printable(command.folder()),
                       reason);
  }
  return fmt::format("cannot run {}: {}", command.name(),
                     report.value == ENOENT ? "there is no such program" : reason);
}

}  // namespace

void ChildUpstream::need_watcher() {
  if (!watcher_)
    watcher_ = std::make_unique<Watcher>(loop_, command_, static_cast<WatcherEvents&>(*this));
}

void ChildUpstream::start() {
  try {
    need_watcher();
  } catch (const std::system_error& error) {
    throw StartError(exit_code::cannot_run,
                     fmt::format("cannot run {}: {}", command_.name(), error.what()));
  }
  if (options_.lazy) return;
  if (!begin_run())
    throw StartError(exit_code::cannot_run,
                     fmt::format("cannot run {}: no pipes for it", command_.name()));
  const auto [report, interrupted] = watcher_->wait_for_first_report(start_timeout_ms);
  if (interrupted) return;
  if (!report)
    throw StartError(exit_code::cannot_run,
                     fmt::format("cannot run {}: it does not start", command_.name()));
  if (report->kind != WatcherReport::Kind::started) {
    throw StartError(exit_code::cannot_run, why_it_cannot_run(*report, command_));
  }
  watcher_reported(*report);
}

bool ChildUpstream::begin_run() {
  try {
    need_watcher();
    const ChildProcess::Context context{loop_,   budget_,         log_,
                                        *this,   command_.name(), options_.max_frame,
                                        counts_, flush_,          read_buffer_};
    process_ = std::make_unique<ChildProcess>(context, ++run_);
  } catch (const std::system_error& error) {
    log_.peer(LogLevel::error, "no child", "cannot run {}: {}", command_.name(), error.what());
    return false;
  }
  watcher_->start(run_, process_->child_ends());
  process_->close_child_ends();
  run_began_ = loop_.now();
  return true;
}

void ChildUpstream::ensure_run() {
  restart_.clear();
  if (!process_ && !begin_run() && !options_.lazy) restart_.set_after(backoff_.next());
}

void ChildUpstream::restart() {
  // A lazy one was to be started for an `initialize` only, and that may have been abandoned.
  if (options_.lazy && openings_.empty()) return;
  ensure_run();
  for (Outgoing& opening : std::exchange(openings_, {})) send(std::move(opening));
}

void ChildUpstream::watcher_reported(const WatcherReport& report) {
  if (!process_ || report.run != process_->run()) return;
  switch (report.kind) {
    case WatcherReport::Kind::started:
      process_->set_pid(report.value);
      if (run_ > 1) ++counts_.child_restarts;
      log_.peer(LogLevel::info, "child started", "{} runs, pid {}", command_.name(), report.value);
      break;
    case WatcherReport::Kind::ended: run_ended(report); break;
    case WatcherReport::Kind::cannot_run:
    case WatcherReport::Kind::bad_folder:
      finish_run(
          failure_of(ErrorKind::connect, Delivered::no, why_it_cannot_run(report, command_)));
      break;
  }
}

void ChildUpstream::run_ended(const WatcherReport& report) {
  process_->drain();  // its last words
  if (!process_ || report.run != process_->run()) return;
  if (end_step_ != EndStep::none) {
    loop_.reap(std::move(process_));
    kill_timer_.clear();
    if (const auto done = std::exchange(ended_, nullptr)) done();
    return;
  }
  finish_run(failure_of(ErrorKind::closed, Delivered::unknown,
                        fmt::format("{} {}", command_.name(), how_it_ended(report.value))));
}

/// There is no child any more: the session is lost, and what it was asked has no answer.
void ChildUpstream::finish_run(const Failure& why) {
  const int pid = process_->pid();
  ChildProcess* const dead = process_.get();
  loop_.reap(std::move(process_));  // still read below
  kill_timer_.clear();
  queued_.set(0);
  // After a good run a new one may be asked for at once. One that ends again and again is not made
  // to do so faster than the back-off begins, however many ask.
  earliest_run_ = loop_.now();
  if (earliest_run_ - run_began_ >= good_life) {
    backoff_.reset();
  } else {
    earliest_run_ += Backoff::first;
  }
  // The jitter is for those that share a server; nobody shares this one.
  if (!options_.lazy) restart_.set_after(std::max(backoff_.next(), Backoff::first));
  log_.peer(LogLevel::warning, "child ended", "{} (pid {})", why.message, pid);

  // What was not written yet is still whole, and of the rest it is known what nobody has read.
  const std::uint64_t first_unread = dead->first_unread();
  bool first_begun = false;
  for (QueuedFrame& frame : dead->queue().take_all(first_begun)) {
    ChildRequest* request = requests_.find(frame.id);
    if (request == nullptr) continue;
    if (std::exchange(first_begun, false)) {
      keep(*request, std::move(frame));
    } else {
      request->message.body = std::move(frame.body);
    }
  }
  const std::vector<UpstreamId> ids = requests_.of_run(dead->run());
  events_->upstream_lost_session();  // may bring the next run near
  for (const UpstreamId id : ids) {
    const ChildRequest* request = requests_.find(id);
    if (request != nullptr && request->run == dead->run()) tell_end_of(id, why, first_unread);
  }
}

void ChildUpstream::tell_end_of(UpstreamId id, const Failure& why, std::uint64_t first_unread) {
  ChildRequest request = *take(id);
  const OutgoingKind kind = request.message.kind;
  Ending ending;
  ending.failure = why;
  const bool unread = !request.written || request.begin >= first_unread;
  if (unread) ending.failure->delivered = Delivered::no;
  if (request.message.opens_session) {
    ending.unanswered = std::move(request.message);
  } else if (unread && kind != OutgoingKind::response) {
    ending.session = SessionVerdict::lost;
    ending.unanswered = std::move(request.message);
  } else if (request.message.may_repeat) {
    ending.unanswered = std::move(request.message);
  }
  events_->upstream_ended(id, std::move(ending));
}

void ChildUpstream::child_closed(std::string_view what) {
  if (end_step_ != EndStep::none) return;
  log_.peer(LogLevel::debug, "child closed a pipe", "{} has closed its {}", command_.name(), what);
  if (!kill_timer_.is_set()) kill_timer_.set_after(closing_time);
}

// The watcher is replaced with the next run; until then we are it.
void ChildUpstream::watcher_gone() {
  log_.event(LogLevel::error, "watcher killed", "the watcher process of {} was killed: {} is ended",
             command_.name(), command_.name());
  loop_.reap(std::move(watcher_));
  if (!process_) return;
  if (process_->pid() > 0) kill(-process_->pid(), SIGKILL);
  run_ended({WatcherReport::Kind::ended, SIGKILL, process_->run()});
}

void ChildUpstream::end(std::function<void()> done) {
  requests_.clear();
  kept_.set(0);
  refusals_.clear();
  openings_.clear();
  clock_.clear();
  restart_.clear();
  if (!process_) {
    done();
    return;
  }
  ended_ = std::move(done);
  end_step_ = EndStep::input_closed;
  process_->close_input();
  kill_timer_.set_after(after_closing);
}

void ChildUpstream::end_step() {
  if (!process_) return;
  switch (end_step_) {
    case EndStep::none:
      log_.peer(LogLevel::warning, "child hangs",
                "{} has closed its stdin or stdout and does not end: it is killed",
                command_.name());
      if (watcher_) watcher_->signal(process_->run(), SIGKILL);
      break;
    case EndStep::input_closed:
      end_step_ = EndStep::terminated;
      if (watcher_) watcher_->signal(process_->run(), SIGTERM);
      kill_timer_.set_after(after_term);
      break;
    case EndStep::terminated:
      end_step_ = EndStep::killed;
      log_.event(LogLevel::warning, "child ignores its end", "{} ignores its end: it is killed",
                 command_.name());
      if (watcher_) watcher_->signal(process_->run(), SIGKILL);
      kill_timer_.set_after(after_kill);
      break;
    case EndStep::killed:
      if (const auto over = std::exchange(ended_, nullptr)) over();
      break;
  }
}

}  // namespace bridge
