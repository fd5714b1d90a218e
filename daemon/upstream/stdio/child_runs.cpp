#include "upstream/stdio/child_runs.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <system_error>
#include <utility>

#include "base/descriptors.hpp"
#include "base/start_error.hpp"
#include "upstream/stdio/child_upstream.hpp"

namespace bridge {
namespace {

/// For the first report at the daemon's start. Only a hanging file system takes so long.
constexpr int start_timeout_ms = 10000;

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

ChildRuns::ChildRuns(EventLoop& loop, const ChildOptions& options, ByteBudget& budget, Log& log,
                     ChildUpstream& owner, Deferred& flush)
    : command_(options, environ),
      secrets_(forms_in_lines(command_.secrets())),
      owner_(owner),
      context_{loop,    budget,          log,         owner,
               *this,   command_.name(), secrets_,    options.max_frame,
               counts_, flush,           read_buffer_},
      shutdown_(loop, [this](ChildShutdown::Step step) { shut_down(step); }) {}

ChildRuns::~ChildRuns() {
  if (!process_ && watcher_) watcher_->wait_for_end_at_destruction();
}

void ChildRuns::need_watcher() {
  if (!watcher_) watcher_ = std::make_unique<Watcher>(context_.loop, command_, *this);
}

void ChildRuns::start(bool lazy) {
  const auto cannot_run = [this](std::string_view why) {
    return StartError(exit_code::cannot_run, fmt::format("cannot run {}: {}", name(), why));
  };
  try {
    need_watcher();
  } catch (const std::system_error& error) {
    throw cannot_run(error.what());
  }
  if (lazy) return;
  if (!begin()) throw cannot_run("no pipes for it");
  const auto [report, interrupted] = watcher_->wait_for_first_report(start_timeout_ms);
  if (interrupted) return;
  if (!report) throw cannot_run("it does not start");
  if (report->kind != WatcherReport::Kind::started)
    throw StartError(exit_code::cannot_run, why_it_cannot_run(*report, command_));
  watcher_reported(*report);
}

void ChildRuns::restore(const SavedRun& saved) {
  run_ = static_cast<std::uint32_t>(saved.number);
  counts_.child_restarts = saved.restarts;
  if (saved.watcher == SavedRun::none) return;
  watcher_ = std::make_unique<Watcher>(context_.loop, static_cast<int>(saved.watcher_pid),
                                       static_cast<int>(saved.watcher), *this);
  if (saved.is_on) process_ = std::make_unique<ChildProcess>(context_, saved);
}

SavedRun ChildRuns::save() const {
  SavedRun saved;
  saved.watcher_version = watcher_version;
  saved.number = run_;
  saved.restarts = counts_.child_restarts;
  if (watcher_) {
    saved.watcher = static_cast<std::uint64_t>(watcher_->socket());
    saved.watcher_pid = static_cast<std::uint64_t>(watcher_->pid());
    if (process_) process_->save_process(saved);
  }
  return saved;
}

bool ChildRuns::begin() {
  try {
    need_watcher();
    process_ = std::make_unique<ChildProcess>(context_, ++run_);
  } catch (const std::system_error& error) {
    const std::string shortage = descriptor_shortage();
    context_.log.peer(LogLevel::error, "no child", "cannot run {}: {}", name(),
                      shortage.empty() ? error.what() : shortage);
    return false;
  }
  watcher_->start(run_, process_->child_ends());
  process_->close_child_ends();
  return true;
}

void ChildRuns::watcher_reported(const WatcherReport& report) {
  if (!process_ || report.run != process_->run()) return;
  switch (report.kind) {
    case WatcherReport::Kind::started:
      process_->set_pid(report.value);
      if (run_ > 1) ++counts_.child_restarts;
      context_.log.peer(LogLevel::info, "child started", "{} runs, pid {}", name(), report.value);
      break;
    case WatcherReport::Kind::ended: ended(report); break;
    case WatcherReport::Kind::cannot_run:
    case WatcherReport::Kind::bad_folder:
      finish(failure_of(ErrorKind::connect, Delivered::no, why_it_cannot_run(report, command_)));
      break;
  }
}

void ChildRuns::ended(const WatcherReport& report) {
  process_->drain();  // its last output
  if (!process_ || report.run != process_->run()) return;
  if (shutdown_.is_under_way()) {
    context_.loop.reap(std::move(process_));
    shutdown_.run_ended();
    return;
  }
  Failure why = failure_of(ErrorKind::closed, Delivered::unknown,
                           fmt::format("{} {}", name(), how_it_ended(report.value)));
  if (const auto& errors = process_->first_errors()) {
    why.summary = why.message;  // the log has its stderr
    const std::string said = errors->text();
    why.message += said.empty() ? " before it answered anything; it wrote nothing to its stderr"
                                : " before it answered anything; its stderr ends with: " + said;
  }
  finish(why);
}

void ChildRuns::finish(const Failure& why) {
  ChildProcess& dead = *process_;
  context_.loop.reap(std::move(process_));
  shutdown_.run_ended();
  context_.log.peer(LogLevel::warning, "child ended", "{}{}", log_text(why),
                    dead.pid() < 0 ? std::string() : fmt::format(" (pid {})", dead.pid()));
  owner_.child_ended(dead, why);
}

void ChildRuns::child_closed(std::string_view what) {
  if (shutdown_.is_under_way()) return;
  context_.log.peer(LogLevel::debug, "child closed a pipe", "{} has closed its {}", name(), what);
  shutdown_.pipe_closed();
}

// The watcher is replaced with the next run; until then the daemon watches.
void ChildRuns::watcher_gone() {
  context_.log.event(LogLevel::error, "watcher killed",
                     "the watcher process of {} was killed: {} is ended", name(), name());
  context_.loop.reap(std::move(watcher_));
  if (!process_) return;
  if (process_->pid() > 0) ::kill(-process_->pid(), SIGKILL);
  ended({WatcherReport::Kind::ended, SIGKILL, process_->run()});
}

void ChildRuns::kill() {
  if (process_ && watcher_) watcher_->signal(process_->run(), SIGKILL);
}

void ChildRuns::end_run(std::function<void()> done) {
  if (process_) {
    shutdown_.begin(std::move(done));
  } else {
    done();
  }
}

void ChildRuns::shut_down(ChildShutdown::Step step) {
  if (!process_) return;
  switch (step) {
    case ChildShutdown::Step::none:
      context_.log.peer(LogLevel::warning, "child hangs",
                        "{} has closed its stdin or stdout and does not end: it is killed", name());
      kill();
      break;
    case ChildShutdown::Step::input_closed: process_->close_input(); break;
    case ChildShutdown::Step::terminated:
      if (watcher_) watcher_->signal(process_->run(), SIGTERM);
      break;
    case ChildShutdown::Step::killed:
      context_.log.event(LogLevel::warning, "child ignores its end",
                         "{} ignores its end: it is killed", name());
      kill();
      break;
  }
}

}  // namespace bridge
