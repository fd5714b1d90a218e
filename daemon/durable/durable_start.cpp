// What there is at the start, and how it is gone on with.
#include <fmt/chrono.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <random>
#include <utility>

#include "durable/durable_state.hpp"
#include "durable/record_types.hpp"
#include "state/fields.hpp"

namespace bridge {
namespace {

/// The bytes of a file, for as long as this lives.
class MappedFile {
 public:
  explicit MappedFile(const Descriptor& file) {
    struct stat status {};
    if (fstat(file.get(), &status) != 0 || status.st_size <= 0) return;
    size_ = static_cast<std::size_t>(status.st_size);
    bytes_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
    is_readable_ = bytes_ != MAP_FAILED;
    if (!is_readable_) size_ = 0;
  }
  ~MappedFile() {
    if (size_ > 0) munmap(bytes_, size_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  bool is_readable() const { return is_readable_; }
  std::string_view bytes() const { return {static_cast<const char*>(bytes_), size_}; }

 private:
  void* bytes_ = nullptr;
  std::size_t size_ = 0;
  bool is_readable_ = true;
};

std::string random_name() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

}  // namespace

DurableState::DurableState(EventLoop& loop, const StateOptions& options, const TargetHash& target,
                           NotificationFeed& feed, UpstreamIdSource& ids, Session& session,
                           Router& router, Upstream& upstream, JobRunner& jobs, Log& log)
    : loop_(loop),
      options_(options),
      target_(target),
      feed_(feed),
      ids_(ids),
      session_(session),
      router_(router),
      upstream_(upstream),
      log_(log),
      folder_(options.folder),
      state_log_(loop, folder_, target, options.sync, *this, log),
      jobs_(loop, state_log_, jobs, session, upstream),
      orphans_(state_log_, router, session, upstream),
      instance_(random_name()),
      look_(loop, [this] { feed_.acknowledge_read(); }) {
  read();
  jobs.store().set_journal(jobs_);
}

void DurableState::read() {
  if (read_file("state", true)) return;
  // Of a daemon that could not write any longer: everything is restored, and nothing is executed,
  // since it is not known what happened after it was written.
  read_file("state.stale", false);
}

/// Whether something was read of it.
bool DurableState::read_file(const std::string& name, bool may_go_on) {
  StateFolder::Opened opened = folder_.open(name);
  if (!opened.file) return false;
  LogReading reading;
  {
    const MappedFile file(opened.file);
    if (!file.is_readable()) {
      move_aside(name, "damaged", "it cannot be read");
      return false;
    }
    reading = read_log(file.bytes(), [this](std::uint32_t type, std::string_view payload) {
      return kept_.take(type, payload);
    });
  }
  const bool is_readable =
      reading.verdict == LogVerdict::good || reading.verdict == LogVerdict::torn;
  if (!is_readable || reading.header.target != target_) {
    kept_ = {};
    if (reading.verdict == LogVerdict::later_format) {
      move_aside(name, "other", "it is of a newer mcp-bridged");
    } else if (is_readable) {
      move_aside(name, "other", "it is of another upstream");
    } else {
      move_aside(name, "damaged", "it is damaged");
    }
    return false;
  }
  if (may_go_on && opened.is_writable &&
      state_log_.go_on(std::move(opened.file), reading.header, reading.end)) {
    FieldWriter fields;
    fields.number(static_cast<std::uint64_t>(std::time(nullptr)));
    state_log_.append(record::opened, fields.bytes());
    state_log_.write_now();  // written anew it would be without what is not restored yet
  }
  if (!may_go_on) {
    previous_ = Previous::could_not_save;
  } else if (!kept_.ended_in_order) {
    previous_ = Previous::killed;
  }
  goes_on_ = state_log_.is_durable();
  if (goes_on_) instance_ = kept_.instance.empty() ? instance_ : kept_.instance;
  return true;
}

void DurableState::move_aside(const std::string& name, const char* kind, const char* why) {
  const std::string aside =
      fmt::format("state.{}-{:%Y%m%dT%H%M%SZ}", kind, fmt::gmtime(std::time(nullptr)));
  const bool is_moved = folder_.rename(name, aside);
  log_.event(LogLevel::warning, "state not used",
             "the state {}/{} is not gone on with: {}; {}. What it kept is not delivered",
             folder_.path(), name, why,
             is_moved ? "it is now " + aside : "and it cannot be renamed");
}

void DurableState::restore() {
  Ring& ring = feed_.ring();
  ring.restore(kept_.ring.take_entries(), kept_.ring.counts(), loop_.wall_time());
  ring.set_journal(this);
  counts_ = kept_.ring.counts();
  reserved_ids_ = kept_.next_id;
  kept_.session.kept.ids = UpstreamIdSource(static_cast<UpstreamId>(kept_.next_id));
  if (ring.size() > 0) {
    log_.event(LogLevel::info, "state read",
               "{} notifications of the state in {} are kept, {} of them nobody has taken",
               ring.size(), folder_.path(), ring.untaken());
  }
}

void DurableState::report_previous(const RestoredJobs& jobs) {
  if (previous_ == Previous::ended) return;
  const std::string of_jobs =
      jobs.unfinished == 0
          ? "no job was under way"
          : fmt::format("of {} jobs under way {} continue and {} have failed (delivered: unknown)",
                        jobs.unfinished, jobs.unfinished - jobs.failed, jobs.failed);
  if (previous_ == Previous::killed) {
    log_.event(LogLevel::warning, "previous daemon killed",
               "the previous daemon ended without shutting down (killed, out of memory, or a "
               "crash); its state in {} is restored; {}",
               folder_.path(), of_jobs);
  } else {
    log_.event(LogLevel::warning, "previous state stale",
               "restored the state of a daemon that could no longer save it, from {}/state.stale; "
               "{}",
               folder_.path(), of_jobs);
  }
}

void DurableState::session_goes_on(const std::string& instance) {
  feed_.ring().set_journal(this);
  counts_ = feed_.ring().counts();
  reserved_ids_ = kept_.next_id;
  instance_ = instance;
  kept_ = {};
  if (!goes_on_) state_log_.begin();
}

void DurableState::take_up_session() {
  restore();
  SessionReplay replay = std::exchange(kept_.session, {});
  KeptSession& kept = replay.kept;
  kept.unanswered = std::exchange(kept_.unanswered, {});
  for (const UpstreamId id : kept_.jobs.resumable_in(kept.number)) std::erase(kept.unanswered, id);
  JobReplay jobs = std::exchange(kept_.jobs, {});
  auto orphans = std::move(kept_.orphans.orphans());
  std::erase_if(orphans, [&](const auto& entry) {
    const auto& ids = kept.unanswered;
    return !router_.keeps_orphans() || !goes_on_ ||
           std::find(ids.begin(), ids.end(), entry.first) == ids.end();
  });
  for (const auto& [id, orphan] : orphans) {
    if (!orphan.answer.event_id.empty() && orphan.answer.session == kept.number)
      std::erase(kept.unanswered, id);
  }
  const bool had_one = kept.number > 0 || kept.modern;
  const std::string event_id =
      kept_.stream.session == kept.number ? kept_.stream.event_id : std::string();
  kept_ = {};
  if (!had_one || !goes_on_ || !replay.id) {
    session_.continue_from(std::move(kept));
    if (had_one && goes_on_) session_.reopen();
  } else {
    session_.take_up(std::move(kept), {*replay.id, event_id});
  }
  const RestoredJobs restored = jobs_.restore(std::move(jobs), goes_on_);
  report_previous(restored);
  for (auto& [id, orphan] : orphans) jobs_.adopt(id, std::move(orphan));
  if (!goes_on_) state_log_.begin();
}

}  // namespace bridge
