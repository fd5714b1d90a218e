#include "upstream/stdio/child_upstream.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/descriptors.hpp"
#include "json/reply.hpp"
#include "upstream/upstream_options.hpp"

namespace bridge {

ChildUpstream::ChildUpstream(EventLoop& loop, ChildOptions options, ByteBudget& budget, Log& log)
    : loop_(loop),
      options_(std::move(options)),
      flush_(
          loop, [this] { flush(); }, Deferred::Until::end_of_round),
      runs_(loop, options_, budget, log, *this, flush_),
      pace_(loop, options_.lazy, [this] { restart(); }),
      requests_(budget, {options_.request_timeout, options_.request_max}),
      clock_(loop, [this] { check_time(); }) {
  traits_ = {.kind = "stdio", .target = runs_.name(), .has_answer_streams = false};
  counts_ = &runs_.counts();
  budget.on_relief([this] { flush_.schedule(); });  // reads the output again
}

void ChildUpstream::start() {
  runs_.start(options_.lazy);
  if (runs_.process() != nullptr) pace_.begun();
}

void ChildUpstream::restore_run(const SavedRun& run) {
  runs_.restore(run);
  if (runs_.process() != nullptr) {
    pace_.begun();
    flush_.schedule();
  } else {
    pace_.could_not_begin();
  }
}

bool ChildUpstream::restore(SavedMessage&& message) {
  if (runs_.process() == nullptr || message.run != runs_.process()->run()) return false;
  watch_time(requests_.restore(std::move(message)));
  return true;
}

void ChildUpstream::reconfigure(const UpstreamOptions& options) {
  requests_.set_timeouts({options.child.request_timeout, options.child.request_max});
}

void ChildUpstream::begin_run() {
  if (runs_.begin()) {
    pace_.begun();
  } else {
    pace_.could_not_begin();
  }
}

void ChildUpstream::restart() {
  // A lazy one is started for an `initialize` only, which may have been abandoned.
  if (options_.lazy && openings_.empty()) return;
  begin_run();
  for (Outgoing& opening : std::exchange(openings_, {})) send(std::move(opening));
}

void ChildUpstream::send(Outgoing&& message) {
  if (message.begins_run() && runs_.process() == nullptr) {
    if (!pace_.may_begin()) {
      pace_.asked();
      openings_.push_back(std::move(message));
      return;
    }
    begin_run();
  }
  flush_.schedule();
  ChildProcess* const process = runs_.process();
  if (process == nullptr) {
    const bool cannot_run = message.begins_run();
    const std::string shortage = descriptor_shortage();
    refuse(std::move(message),
           failure_of(cannot_run ? ErrorKind::connect : ErrorKind::closed, Delivered::no,
                      fmt::format("{} does not run{}{}", runs_.name(), shortage.empty() ? "" : ": ",
                                  shortage)),
           cannot_run ? SessionVerdict::kept : SessionVerdict::lost);
    return;
  }
  const FrameQueue& queue = process->queue();
  if (queue.bytes() > 0 && queue.cost() + message.body.size() > max_queued) {
    refuse(std::move(message),
           failure_of(ErrorKind::overloaded, Delivered::no,
                      fmt::format("{} does not read its stdin: over {} bytes wait for it",
                                  runs_.name(), max_queued)),
           SessionVerdict::kept);
    return;
  }
  const UpstreamId id = message.id;
  process->push(id, std::move(message.body));
  ChildRequest request;
  request.message = std::move(message);
  request.run = process->run();
  request.clock.start_clock(loop_.now());
  watch_time(requests_.add(id, std::move(request)));
}

void ChildUpstream::refuse(Outgoing message, Failure failure, SessionVerdict verdict) {
  const UpstreamId id = message.id;
  Ending ending{.failure = std::move(failure), .session = verdict};
  // A response to a request of the old server means nothing to another one.
  if (verdict == SessionVerdict::lost && message.kind != OutgoingKind::response)
    ending.unanswered = std::move(message);
  undelivered_.add(id, std::move(ending));
}

void ChildUpstream::abandon(UpstreamId id) {
  if (ChildProcess* const process = runs_.process()) process->remove(id);
  requests_.take(id);
  undelivered_.forget(id);
  std::erase_if(openings_, [id](const Outgoing& opening) { return opening.id == id; });
}

void ChildUpstream::give_up_unsent(const Failure& failure) {
  for (Outgoing& opening : std::exchange(openings_, {}))
    refuse(std::move(opening), failure, SessionVerdict::kept);
  flush_.schedule();
}

// All requests share its stdout: nothing is paused.
void ChildUpstream::treat(UpstreamId id, Treatment how) {
  if (how == Treatment::lift_deadline) {
    if (ChildRequest* const request = requests_.find(id)) request->message.endless = true;
  } else if (how == Treatment::hold_deadline || how == Treatment::run_deadline) {
    requests_.hold_deadline(id, how == Treatment::hold_deadline, loop_.now());
    check_time();
  }
}

// The server's own messages come on its stdout like all others. A session is resumed if its run
// continues.
bool ChildUpstream::session_opened(const OpenedSession& session) {
  if (session.left != nullptr && runs_.process() == nullptr) return false;
  if (!session.is_stateful) return true;
  stream_opened_ = true;
  flush_.schedule();
  return true;
}

// At the end of a turn: writes its messages together, and reports what could not be reported at
// once.
void ChildUpstream::flush() {
  if (ChildProcess* const process = runs_.process()) {
    process->write(written_);
    for (QueuedFrame& frame : written_) frame_written(std::move(frame));
    written_.clear();
    if (runs_.process() != nullptr) runs_.process()->resume_reading();
  }
  undelivered_.tell(*events_);
  if (std::exchange(stream_opened_, false)) events_->server_stream_changed(ServerStream::open);
}

void ChildUpstream::frame_written(QueuedFrame frame) {
  runs_.counts().sent_bytes += frame.body.size() + 1;
  ChildRequest* request = requests_.find(frame.id);
  if (request == nullptr) return;
  if (request->message.kind == OutgoingKind::request) {
    requests_.keep(*request, std::move(frame));
  } else {
    requests_.take(frame.id);
    events_->message_ended(frame.id, {});
  }
}

void ChildUpstream::child_message(ReceivedText line) {
  requests_.note_activity(loop_.now());
  events_->upstream_message(std::nullopt, std::move(line)).each([this](UpstreamId id) {
    ChildProcess* const process = runs_.process();
    if (process != nullptr) process->note_answer();
    if (requests_.take(id) && process != nullptr) process->remove(id);
  });
}

void ChildUpstream::child_oversized_line(std::optional<UpstreamId> answered) {
  requests_.note_activity(loop_.now());
  const ChildRequest* request = answered ? requests_.find(*answered) : nullptr;
  if (request == nullptr || request->message.kind != OutgoingKind::request) return;
  requests_.take(*answered);
  events_->message_ended(*answered, {.failure = answer_too_large(options_.max_frame)});
}

void ChildUpstream::watch_time(const ChildRequest& request) {
  const SteadyTime due = requests_.deadline(request);
  if (due != SteadyTime::max()) clock_.set_at_latest(due);
}

void ChildUpstream::check_time() {
  SteadyTime next = SteadyTime::max();
  for (const UpstreamId id : requests_.expired(loop_.now(), next)) expire(id);
  if (next != SteadyTime::max()) clock_.set_at_latest(next);
}

void ChildUpstream::expire(UpstreamId id) {
  const auto request = requests_.take(id);
  if (!request) return;
  ChildProcess* const process = runs_.process();
  const bool unsent = process != nullptr && process->remove(id);
  // A run that does not answer this answers nothing; another one may.
  if (request->message.opens_session) runs_.kill();
  Failure failure = failure_of(ErrorKind::timeout, unsent ? Delivered::no : Delivered::unknown,
                               request->message.kind != OutgoingKind::request
                                   ? "the upstream did not accept the message in time"
                               : requests_.took_too_long(*request, loop_.now())
                                   ? "the answer took longer than --request-max"
                                   : "the upstream sent nothing for longer than --request-timeout");
  events_->message_ended(id, {.failure = std::move(failure)});
}

/// The session is lost, and its requests are unanswered.
void ChildUpstream::child_ended(ChildProcess& dead, const Failure& why) {
  pace_.ended();
  // Unwritten messages are still complete; of written ones it is known which were not read.
  const std::uint64_t first_unread = dead.first_unread();
  bool first_begun = false;
  for (QueuedFrame& frame : dead.take_unwritten(first_begun)) {
    ChildRequest* request = requests_.find(frame.id);
    if (request == nullptr) continue;
    if (std::exchange(first_begun, false)) {
      requests_.keep(*request, std::move(frame));
    } else {
      request->message.body = std::move(frame.body);
    }
  }
  const std::vector<UpstreamId> ids = requests_.of_run(dead.run());
  events_->upstream_lost_session();  // may bring the next run forward
  for (const UpstreamId id : ids) {
    const ChildRequest* request = requests_.find(id);
    if (request != nullptr && request->run == dead.run()) tell_end_of(id, why, first_unread);
  }
}

void ChildUpstream::tell_end_of(UpstreamId id, const Failure& why, std::uint64_t first_unread) {
  ChildRequest request = *requests_.take(id);
  const OutgoingKind kind = request.message.kind;
  Ending ending{.failure = why};
  const bool unread = !request.written || request.begin >= first_unread;
  if (unread) ending.failure->delivered = Delivered::no;
  const bool opens = request.message.begins_run();
  const bool lost_unread = unread && !opens && kind != OutgoingKind::response;
  if (lost_unread) ending.session = SessionVerdict::lost;
  if (opens || lost_unread || request.message.may_repeat)
    ending.unanswered = std::move(request.message);
  events_->message_ended(id, std::move(ending));
}

void ChildUpstream::end(std::function<void()> done) {
  requests_.clear();
  undelivered_.clear();
  openings_.clear();
  clock_.clear();
  pace_.stop();
  runs_.end_run(std::move(done));
}

}  // namespace bridge
