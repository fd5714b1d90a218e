#include "daemon_state.hpp"

#include <fmt/chrono.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "base/random.hpp"
#include "base/start_error.hpp"
#include "state/log_format.hpp"
#include "state/memory_file.hpp"
#include "text/characters.hpp"

namespace bridge {
namespace {

/// So many ids are recorded as used at a time: more than a turn can use.
constexpr std::uint64_t id_block = 1u << 16;

template <class... Values>
bool read_payload(std::string_view payload, Values&... values) {
  return Archive::read(Archive::Kind::disk, {}, payload, values...);
}

}  // namespace

bool ReplayedState::take(std::uint32_t type, std::string_view payload) {
  switch (type) {
    case record::instance: return read_payload(payload, instance) && is_plain_name(instance);
    case record::opened: ended_in_order = false; return true;
    case record::ended: ended_in_order = true; return true;
    case record::ring_entry: return ring.entry(payload, stream);
    case record::ring_marks: return ring.marks(payload);
    case record::ring_superseded: return ring.superseded(payload);
    case record::ring_counts: return ring.counts(payload);
    case record::session:
      session = {};
      // A session includes a handshake.
      return read_payload(payload, session) &&
             (session.session.server || session.session.number == 0);
    case record::upstream_ids: {
      std::uint64_t id = 0;
      const bool is_read = read_payload(payload, id);
      next_id = std::max(next_id, id);
      return is_read;
    }
    case record::server_stream: return read_payload(payload, stream);
    case record::unanswered: return read_payload(payload, unanswered);
    case record::job: return jobs.job(payload);
    case record::job_position: return jobs.position(payload);
    case record::job_changed: return jobs.changed(payload);
    case record::job_forgotten: return jobs.forgotten(payload);
    case record::used_key: return jobs.key(payload);
    case record::audited: {
      AuditRecord one;
      if (!read_payload(payload, one)) return false;
      audited.insert_or_assign(one.number, std::move(one));
      return true;
    }
    case record::audit_ended: {
      std::vector<std::uint64_t> ended;
      if (!read_payload(payload, ended)) return false;
      for (const std::uint64_t number : ended) audited.erase(number);
      return true;
    }
    case record::grant: {
      SavedGrant one;
      if (!read_payload(payload, one)) return false;
      const auto grant = bridge::read_payload(one.payload);
      if (!grant) return false;
      grants.insert_or_assign(grant->id, std::move(one));
      return true;
    }
    case record::grant_used: {
      std::string id;
      std::uint64_t used = 0;
      if (!read_payload(payload, id, used)) return false;
      if (const auto found = grants.find(id); found != grants.end()) found->second.used = used;
      return true;
    }
    case record::grants_revoked: {
      std::vector<std::string> ids;
      if (!read_payload(payload, ids)) return false;
      for (const std::string& id : ids) grants.erase(id);
      return true;
    }
    default: return false;
  }
}

std::optional<SessionReference> SessionLog::reference() const {
  return session_.has_session() ? upstream_.session_reference() : std::nullopt;
}

void SessionLog::note() {
  const auto now_referred = reference();
  const bool same_id =
      now_referred.has_value() == id_.has_value() && (!now_referred || now_referred->id == *id_);
  if (same_id && session_.counts().opened == opened_ && router_.settings_revision() == revision_)
    return;
  state_log_.append(record::session, now());
}

void SessionLog::say(LogWriter& out) { out.append(record::session, state_log_.now(), now()); }

LoggedSession SessionLog::now() {
  opened_ = session_.counts().opened;
  revision_ = router_.settings_revision();
  id_.reset();
  if (const auto now_referred = reference()) id_.emplace(now_referred->id);
  LoggedSession record{session_.save(), id_};
  bytes_ = Archive::measure(Archive::Kind::disk, record);
  return record;
}

StreamPosition SessionLog::position() const {
  const auto now_referred = reference();
  if (!now_referred || now_referred->last_event_id.empty() ||
      now_referred->last_event_id.size() > longest_event_id)
    return {};
  return {session_.number(), std::string(now_referred->last_event_id)};
}

void UpstreamIdLog::note() {
  const std::uint64_t last = value_of(ids_.last());
  if (last + id_block / 2 > reserved_) {
    reserved_ = last + id_block;
    state_log_.append(record::upstream_ids, reserved_);
  }
  if (has_ended_ || std::exchange(seen_, ids_.last()) == ids_.last()) return;
  std::vector<UpstreamId> now = router_.unanswered();
  if (now == unanswered_) return;
  unanswered_ = std::move(now);
  state_log_.append(record::unanswered, unanswered_);
}

void UpstreamIdLog::say(LogWriter& out) {
  reserved_ = value_of(ids_.last()) + id_block;
  out.append(record::upstream_ids, state_log_.now(), reserved_);
  if (!has_ended_) unanswered_ = router_.unanswered();
  out.append(record::unanswered, state_log_.now(), unanswered_);
}

/// Requests that have ended meanwhile are not cancelled.
void UpstreamIdLog::end() {
  seen_ = {};
  note();
  has_ended_ = true;
}

void GrantLog::take_key(const StateFolder& folder, Log& log) {
  static_cast<void>(permissions_.grants().take_changes());  // from now on they are noted
  constexpr const char* name = "grants.key";
  StateFolder::Opened opened = folder.open(name);
  if (opened.file) {
    struct stat status {};
    std::string bytes(GrantKey::size + 1, '\0');
    const ssize_t count = pread(opened.file.get(), bytes.data(), bytes.size(), 0);
    if (fstat(opened.file.get(), &status) != 0 || (status.st_mode & 077) != 0) {
      throw StartError(
          exit_code::cannot_bind,
          fmt::format("--state-dir: {}/{} can be read by other users; remove it, which "
                      "ends all grants",
                      folder.path(), name));
    }
    if (count == static_cast<ssize_t>(GrantKey::size)) {
      bytes.resize(GrantKey::size);
      permissions_.grants().set_key(GrantKey(std::move(bytes)));
      return;
    }
    log.event(LogLevel::warning, "key of grants replaced",
              "{}/{} has not {} bytes and is replaced: all grants of earlier daemons have ended",
              folder.path(), name, GrantKey::size);
  }
  const std::string& key = permissions_.grants().key().bytes();
  const std::string fresh = fmt::format("{}.new", name);
  const Descriptor file = folder.create(fresh);
  if (!file || write(file.get(), key.data(), key.size()) != static_cast<ssize_t>(key.size()) ||
      fsync(file.get()) != 0 || !folder.rename(fresh, name) || !folder.sync()) {
    log.event(LogLevel::warning, "key of grants not saved",
              "the key of grants cannot be saved in {}: {}; grants end with this daemon",
              folder.path(), std::strerror(errno));
  }
}

void GrantLog::note() {
  Grants& grants = permissions_.grants();
  const Grants::Changes changes = grants.take_changes();
  if (changes.empty()) return;
  for (const std::string& id : changes.issued) {
    if (const Grants::Alive* const alive = grants.find(id))
      state_log_.append(record::grant, grants.saved(*alive));
  }
  for (const std::string& id : changes.used) {
    if (const Grants::Alive* const alive = grants.find(id))
      state_log_.append(record::grant_used, id, alive->used);
  }
  if (!changes.revoked.empty()) state_log_.append(record::grants_revoked, changes.revoked);
}

bool GrantLog::continue_snapshot(LogWriter& out, std::size_t bytes) {
  const std::uint64_t before = out.size();
  const Grants& grants = permissions_.grants();
  bool more = false;
  grants.each_after(place_, [&](const Grants::Place& place, const Grants::Alive& alive) {
    more = out.size() - before >= bytes;
    if (more) return false;
    out.append(record::grant, state_log_.now(), grants.saved(alive));
    place_ = place;
    return true;
  });
  return more;
}

std::size_t GrantLog::saved_bytes() const {
  constexpr std::size_t of_grant = 400;  // approximately
  return permissions_.grants().size() * of_grant;
}

DaemonState::DaemonState(EventLoop& loop, const StateOptions& options, const TargetHash& target,
                         NotificationFeed& feed, UpstreamIdSource& ids, Session& session,
                         Router& router, Upstream& upstream, JobRunner& jobs, Log& log)
    : keep_session_(options.keep_session),
      target_(target),
      feed_(feed),
      session_(session),
      router_(router),
      log_(log),
      folder_(options.folder),
      state_log_(loop, folder_, target, options.sync, *this, log),
      session_log_(state_log_, session, router, upstream),
      ids_(state_log_, ids, router),
      ring_(loop, state_log_, feed, [this] { return session_log_.position(); }),
      grants_(state_log_, router.permissions()),
      runner_(jobs),
      jobs_(loop, state_log_, jobs, session, upstream),
      instance_(random_hex(8)),
      replayed_(state_log_.now()) {
  grants_.take_key(folder_, log);
  read();
}

void DaemonState::read() {
  if (read_file("state", true)) return;
  // Left by a daemon that could no longer write: everything is restored, and nothing is executed,
  // since what happened after the last write is unknown.
  read_file("state.stale", false);
}

/// Whether something was read of it.
bool DaemonState::read_file(const std::string& name, bool may_proceed) {
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
      return replayed_.take(type, payload);
    });
  }
  const bool is_readable =
      reading.verdict == LogVerdict::good || reading.verdict == LogVerdict::torn;
  if (!is_readable || reading.header.target != target_) {
    replayed_ = ReplayedState(state_log_.now());
    if (reading.verdict == LogVerdict::later_format) {
      move_aside(name, "other", "a newer mcp-bridged wrote it");
    } else if (reading.verdict == LogVerdict::earlier_format) {
      move_aside(name, "other", "an older mcp-bridged wrote it");
    } else if (is_readable) {
      move_aside(name, "other", "it belongs to another upstream");
    } else {
      move_aside(name, "damaged", "it is damaged");
    }
    return false;
  }
  if (may_proceed && opened.is_writable &&
      state_log_.proceed(std::move(opened.file), reading.header, reading.end)) {
    state_log_.append(record::opened, std::time(nullptr));
    state_log_.write_now();  // a new log would lack what is not restored yet
  }
  if (!may_proceed) {
    previous_ = Previous::could_not_save;
  } else if (!replayed_.ended_in_order) {
    previous_ = Previous::killed;
  }
  continues_ = state_log_.is_durable();
  if (continues_) instance_ = replayed_.instance.empty() ? instance_ : replayed_.instance;
  return true;
}

void DaemonState::move_aside(const std::string& name, const char* kind, const char* why) {
  const std::string aside =
      fmt::format("state.{}-{:%Y%m%dT%H%M%SZ}", kind, fmt::gmtime(std::time(nullptr)));
  const bool is_moved = folder_.rename(name, aside);
  log_.event(LogLevel::warning, "state not used",
             "the state {}/{} is not used: {}; {}. Its contents are not delivered", folder_.path(),
             name, why, is_moved ? "it is now " + aside : "and it cannot be renamed");
}

void DaemonState::restore_ring() {
  Ring& ring = feed_.ring();
  ring.restore(replayed_.ring.take(), state_log_.now().wall);
  ring_.begin();
  ids_.begin(replayed_.next_id);
  replayed_.session.session.ids = UpstreamIdSource(static_cast<UpstreamId>(replayed_.next_id));
  if (ring.size() > 0) {
    log_.event(LogLevel::info, "state read",
               "{} notifications restored from the state in {}, {} of them undelivered",
               ring.size(), folder_.path(), ring.untaken());
  }
}

void DaemonState::report_previous(const RestoredJobs& jobs) {
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

void DaemonState::session_continues(const std::string& instance) {
  ring_.begin();
  ids_.begin(replayed_.next_id);
  instance_ = instance;
  jobs_.drop_calls(replayed_.jobs);
  replayed_ = ReplayedState(state_log_.now());
}

void DaemonState::parts_restored() {
  if (!continues_) state_log_.begin();
}

void DaemonState::take_up_session() {
  restore_ring();
  LoggedSession record = std::exchange(replayed_.session, {});
  SavedSession& kept = record.session;
  kept.unanswered = std::exchange(replayed_.unanswered, {});
  JobReplay jobs = std::move(replayed_.jobs);
  if (!router_.keeps_orphans() || !continues_) jobs_.drop_calls(jobs);
  for (const UpstreamId id : jobs.resumable_in(kept.number)) std::erase(kept.unanswered, id);
  if (AuditTrail* const audit = router_.audit()) {
    std::vector<AuditRecord> records;
    for (auto& [number, one] : replayed_.audited) records.push_back(std::move(one));
    audit->take_over(std::move(records));
  }
  // Of a log that could not be written, what was used up or revoked since is unknown.
  std::vector<SavedGrant> grants;
  for (auto& [id, one] : replayed_.grants) grants.push_back(std::move(one));
  if (continues_) router_.permissions().restore_grants(grants);
  const bool had_one = kept.number > 0 || kept.modern;
  const std::string event_id =
      replayed_.stream.session == kept.number ? replayed_.stream.event_id : std::string();
  replayed_ = ReplayedState(state_log_.now());
  if (!had_one || !continues_ || !record.id) {
    session_.restore(std::move(kept));
    if (had_one && continues_) session_.reopen();
  } else {
    session_.resume(std::move(kept), {*record.id, event_id});
  }
  const RestoredJobs restored = jobs_.restore(std::move(jobs), continues_);
  report_previous(restored);
  if (AuditTrail* const audit = router_.audit()) {
    audit->give_up_jobs([this](std::string_view job) {
      const Job* const found = runner_.store().find_job(job);
      return found != nullptr && !is_end(found->state);
    });
  }
  if (!continues_) state_log_.begin();
}

void DaemonState::write() {
  note_changes();
  state_log_.write();
}

void DaemonState::end_turn() {
  jobs_.note_streams();
  note_audit();
  write();
}

void DaemonState::begin_end() {
  ids_.end();
  write();
}

void DaemonState::end() {
  note_audit();
  state_log_.append(record::ended, std::time(nullptr));
  state_log_.write_now();
}

void DaemonState::note_changes() {
  ring_.note_changes();
  jobs_.note_changes();
  jobs_.note_calls(router_);
  grants_.note();
  session_log_.note();
  ring_.note_position();
  ids_.note();
}

/// Reported as ended once its line is in the audit: else a crash could lose both.
void DaemonState::note_audit() {
  AuditTrail* const audit = router_.audit();
  if (audit == nullptr) return;
  const std::vector<std::uint64_t> ended = audit->take_changes(
      [this](const AuditRecord& one) { state_log_.append(record::audited, one); });
  if (!ended.empty()) state_log_.append(record::audit_ended, ended);
}

void DaemonState::begin_snapshot() {
  head_is_said_ = false;
  ring_.begin_snapshot();
  jobs_.begin_snapshot();
  grants_.begin_snapshot();
}

/// Writes everything but ring and jobs: one step, whatever its size.
void DaemonState::say_head(LogWriter& out) {
  const Moment now = state_log_.now();
  ring_.snapshot_position(out);
  out.append(record::instance, now, instance_);
  session_log_.say(out);
  ids_.say(out);
  jobs_.say_calls(out);
  if (const AuditTrail* const audit = router_.audit())
    audit->each([&](const AuditRecord& one) { out.append(record::audited, now, one); });
}

bool DaemonState::continue_snapshot(LogWriter& out, std::size_t bytes) {
  if (!std::exchange(head_is_said_, true)) {
    say_head(out);
    return true;
  }
  const std::uint64_t before = out.size();
  const auto left = [&] { return bytes - std::min(bytes, out.size() - before); };
  if (ring_.continue_snapshot(out, bytes) || jobs_.continue_snapshot(out, left()) ||
      grants_.continue_snapshot(out, left()))
    return true;
  ring_.end_snapshot(out);
  return false;
}

std::size_t DaemonState::saved_bytes() const {
  constexpr std::size_t of_audit_record = 512;  // approximately
  return ring_.saved_bytes() + session_log_.saved_bytes() + jobs_.saved_bytes() +
         grants_.saved_bytes() +
         (router_.audit() != nullptr ? router_.audit()->size() * of_audit_record : 0);
}

}  // namespace bridge
