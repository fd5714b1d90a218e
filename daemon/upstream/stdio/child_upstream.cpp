// Messages to a child and from it. Its runs are in child_runs.cpp.
#include "upstream/stdio/child_upstream.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <utility>

#include "jsonrpc/oversized_answer.hpp"
#include "upstream/upstream_options.hpp"

namespace bridge {

ChildUpstream::ChildUpstream(EventLoop& loop, ChildOptions options, ByteBudget& budget, Log& log)
    : loop_(loop),
      flush_(loop, [this] { flush(); }),
      options_(std::move(options)),
      budget_(budget),
      log_(log),
      command_(options_, environ),
      queued_(budget),
      kept_(budget),
      clock_(loop, [this] { check_time(); }),
      restart_(loop, [this] { restart(); }),
      kill_timer_(loop, [this] { end_step(); }) {
  budget.on_relief([this] { flush_.schedule(); });  // the output is read on
}

ChildUpstream::~ChildUpstream() {
  if (!process_ && watcher_) watcher_->wait_for_end_at_destruction();
}

void ChildUpstream::reconfigure(const UpstreamOptions& options) {
  options_.request_timeout = options.child.request_timeout;
  options_.request_max = options.child.request_max;
}

void ChildUpstream::send(Outgoing message) {
  if (message.opens_session && !process_) {
    if (loop_.now() < earliest_run_) {
      restart_.set_at_latest(earliest_run_);
      openings_.push_back(std::move(message));
      return;
    }
    ensure_run();
  }
  flush_.schedule();
  if (!process_) {
    const bool cannot_run = message.opens_session;
    refuse(std::move(message),
           failure_of(cannot_run ? ErrorKind::connect : ErrorKind::closed, Delivered::no,
                      fmt::format("{} does not run", command_.name())),
           cannot_run ? SessionVerdict::kept : SessionVerdict::lost);
    return;
  }
  FrameQueue& queue = process_->queue();
  if (queue.bytes() > 0 && queue.cost() + message.body.size() > max_queued) {
    refuse(std::move(message),
           failure_of(ErrorKind::overloaded, Delivered::no,
                      fmt::format("{} does not read its stdin: over {} bytes wait for it",
                                  command_.name(), max_queued)),
           SessionVerdict::kept);
    return;
  }
  queue.push(message.id, std::move(message.body));
  queued_.set(queue.cost());
  const UpstreamId id = message.id;
  ChildRequest request;
  request.message = std::move(message);
  request.run = process_->run();
  request.started = loop_.now();
  watch_time(requests_.add(id, std::move(request)));
}

void ChildUpstream::refuse(Outgoing message, Failure failure, SessionVerdict verdict) {
  const UpstreamId id = message.id;
  Ending ending;
  ending.failure = std::move(failure);
  ending.session = verdict;
  // An answer to a server that is gone has no sense for another one.
  if (verdict == SessionVerdict::lost && message.kind != OutgoingKind::response)
    ending.unanswered = std::move(message);
  refusals_.push_back({id, std::move(ending)});
}

std::optional<ChildRequest> ChildUpstream::take(UpstreamId id) {
  auto request = requests_.take(id);
  if (request && request->written) kept_.remove(request->message.body.size());
  return request;
}

void ChildUpstream::abandon(UpstreamId id) {
  if (process_) process_->queue().remove(id);
  take(id);
  std::erase_if(refusals_, [id](const Refusal& refusal) { return refusal.id == id; });
  std::erase_if(openings_, [id](const Outgoing& opening) { return opening.id == id; });
}

void ChildUpstream::give_up_unsent(const Failure& failure) {
  for (Outgoing& opening : std::exchange(openings_, {}))
    refuse(std::move(opening), failure, SessionVerdict::kept);
  flush_.schedule();
}

/// It is answered.
void ChildUpstream::settle(UpstreamId id) {
  if (!take(id)) return;
  if (process_) process_->queue().remove(id);
}

// What the server says by itself comes on its stdout like everything else.
void ChildUpstream::session_opened(const std::string&) {
  stream_opened_ = true;
  flush_.schedule();
}

// The end of a turn: what was sent in it goes in one write, and what could not be told at once is
// told.
void ChildUpstream::flush() {
  if (process_) {
    process_->write(written_);
    if (process_) queued_.set(process_->queue().cost());
    for (QueuedFrame& frame : written_) frame_written(std::move(frame));
    written_.clear();
    if (process_) process_->resume_reading();
  }
  for (Refusal& refusal : std::exchange(refusals_, {}))
    events_->upstream_ended(refusal.id, std::move(refusal.ending));
  if (std::exchange(stream_opened_, false)) events_->server_stream_changed(ServerStream::open);
}

void ChildUpstream::frame_written(QueuedFrame frame) {
  counts_.sent_bytes += frame.body.size() + 1;
  ChildRequest* request = requests_.find(frame.id);
  if (request == nullptr) return;
  if (request->message.kind != OutgoingKind::request) {
    take(frame.id);
    events_->upstream_ended(frame.id, {});
    return;
  }
  keep(*request, std::move(frame));
}

/// Until it is answered: if the child dies it may have to be sent again.
void ChildUpstream::keep(ChildRequest& request, QueuedFrame frame) {
  request.written = true;
  request.begin = frame.begin;
  request.message.body = std::move(frame.body);
  kept_.add(request.message.body.size());
}

void ChildUpstream::child_message(std::string line) {
  heard_ = loop_.now();
  events_->upstream_message(std::nullopt, std::move(line)).each([this](UpstreamId id) {
    settle(id);
  });
}

void ChildUpstream::child_oversized_line(std::optional<UpstreamId> answered) {
  heard_ = loop_.now();
  const ChildRequest* request = answered ? requests_.find(*answered) : nullptr;
  if (request == nullptr || request->message.kind != OutgoingKind::request) return;
  take(*answered);
  Ending ending;
  ending.failure = answer_too_large(options_.max_frame);
  events_->upstream_ended(*answered, std::move(ending));
}

void ChildUpstream::watch_time(const ChildRequest& request) {
  const SteadyTime due =
      ChildRequests::deadline(request, heard_, {options_.request_timeout, options_.request_max});
  if (due != SteadyTime::max()) clock_.set_at_latest(due);
}

void ChildUpstream::check_time() {
  SteadyTime next = SteadyTime::max();
  const auto now = loop_.now();
  for (const UpstreamId id :
       requests_.expired(now, heard_, {options_.request_timeout, options_.request_max}, next)) {
    expire(id);
  }
  if (next != SteadyTime::max()) clock_.set_at_latest(next);
}

void ChildUpstream::expire(UpstreamId id) {
  const auto request = take(id);
  if (!request) return;
  const bool unsent = process_ && process_->queue().remove(id);
  // Whoever does not answer that answers nothing; another run may.
  if (request->message.opens_session && process_ && watcher_)
    watcher_->signal(process_->run(), SIGKILL);
  const bool in_all =
      options_.request_max.count() > 0 && loop_.now() - request->started >= options_.request_max;
  Ending ending;
  ending.failure =
      failure_of(ErrorKind::timeout, unsent ? Delivered::no : Delivered::unknown,
                 request->message.kind != OutgoingKind::request
                     ? "the upstream did not accept the message in time"
                 : in_all ? "the answer took longer than --request-max"
                          : "the upstream sent nothing for longer than --request-timeout");
  events_->upstream_ended(id, std::move(ending));
}

}  // namespace bridge
