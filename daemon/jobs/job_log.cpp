#include "jobs/job_log.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "jobs/submitted_request.hpp"
#include "mcp/methods.hpp"
#include "state/plain_name.hpp"
#include "state/record_types.hpp"

namespace bridge {
namespace {

/// Whether it says what is asked exactly while something is.
bool is_consistent(const JobOutcome& outcome) {
  return outcome.question.has_value() == (outcome.state == JobState::input_required);
}

const JobOutcome& outcome_of(const Job& job) { return job; }

}  // namespace

UnfinishedJob* JobReplay::find(JobNumber number) {
  const auto found = jobs_.find(number);
  return found == jobs_.end() ? nullptr : &found->second;
}

std::vector<UpstreamId> JobReplay::resumable_in(std::uint32_t session) const {
  std::vector<UpstreamId> ids;
  for (const auto& [number, replayed] : jobs_) {
    const JobWay& way = replayed.way;
    if (!way.event_id.empty() && way.session == session) ids.push_back(way.id);
  }
  return ids;
}

bool JobReplay::job(std::string_view payload) {
  UnfinishedJob replayed;
  if (!read(payload, replayed) || !is_plain_name(replayed.job.id) ||
      replayed.job.number == JobNumber{} || !is_consistent(replayed.job))
    return false;
  replayed.job.collected = false;  // it may have been, since; then it is told once more
  jobs_.insert_or_assign(replayed.job.number, std::move(replayed));
  return true;
}

bool JobReplay::way(std::string_view payload) {
  JobNumber number{};
  JobWay way;
  if (!read(payload, number, way)) return false;
  if (UnfinishedJob* const replayed = find(number)) replayed->way = std::move(way);
  return true;
}

bool JobReplay::peer(std::string_view payload) {
  JobNumber number{};
  Peer peer;
  if (!read(payload, number, peer)) return false;
  if (UnfinishedJob* const replayed = find(number)) replayed->peer = std::move(peer);
  return true;
}

bool JobReplay::changed(std::string_view payload) {
  JobNumber number{};
  JobOutcome outcome;
  if (!read(payload, number, outcome) || !is_consistent(outcome)) return false;
  UnfinishedJob* const replayed = find(number);
  if (replayed == nullptr) return true;
  static_cast<JobOutcome&>(replayed->job) = std::move(outcome);
  if (!is_end(replayed->job.state)) return true;
  replayed->request.clear();
  replayed->way = {};
  replayed->peer.reset();
  return true;
}

bool JobReplay::forgotten(std::string_view payload) {
  JobNumber number{};
  if (!read(payload, number)) return false;
  jobs_.erase(number);
  return true;
}

bool JobReplay::key(std::string_view payload) {
  std::pair<User, UsedKey> replayed;
  const UsedKey& key = replayed.second;
  if (!read(payload, replayed) || !is_end(key.state) || !is_plain_name(key.job)) return false;
  keys_.push_back(std::move(replayed));
  return true;
}

RestoredJobs JobLog::restore(JobReplay replay, bool may_act) {
  for (auto& [user, key] : replay.keys()) {
    if (key.until > loop_.now()) jobs_.store().restore(user, std::move(key));
  }
  std::vector<Job*> ended;
  for (auto& [number, replayed] : replay.jobs()) {
    if (is_end(replayed.job.state)) ended.push_back(&replayed.job);
  }
  std::stable_sort(ended.begin(), ended.end(),
                   [](const Job* left, const Job* right) { return left->ended < right->ended; });
  for (Job* const job : ended) {
    // If the calendar was set back nothing is kept for longer than from now.
    job->ended = std::min(job->ended, loop_.now());
    jobs_.store().restore(std::move(*job));
  }
  RestoredJobs restored;
  for (auto& [number, replayed] : replay.jobs()) {
    if (is_end(replayed.job.state)) continue;
    const JobNumber of_job = replayed.job.number;
    jobs_.take_over(std::move(replayed), may_act);
    const Job* const job = jobs_.store().find(of_job);
    ++restored.unfinished;
    if (job == nullptr || is_end(job->state)) ++restored.failed;
  }
  jobs_.restored();
  return restored;
}

void JobLog::adopt(UpstreamId id, Orphan orphan) {
  UnfinishedJob left;
  left.job =
      jobs_.new_job(std::move(orphan.method), orphan.user, orphan.pid, std::move(orphan.command));
  left.way.started = true;
  left.way.id = id;
  left.way.session = static_cast<std::uint32_t>(orphan.answer.session);
  left.way.event_id = std::move(orphan.answer.event_id);
  const JobNumber number = left.job.number;
  if (!jobs_.store().make_room_for(left.job)) return;
  jobs_.take_over(std::move(left));
  const Job& job = *jobs_.store().find(number);
  state_log_.append(record::job, job, entry_of(job).request, entry_of(job).way);
}

void JobLog::keep(const Job& job, std::string_view request, const JobWay& way) {
  Entry& entry = entries_[job.number];
  entry.request = request;
  entry.way = way;
  if (way.started && !is_end(job.state)) under_way_.insert(job.number);
  measure(job, entry);
}

void JobLog::measure(const Job& job, Entry& entry) {
  bytes_ -= entry.bytes;
  entry.bytes = record_size(Archive::measure(Archive::Kind::disk, job, entry.request, entry.way));
  if (entry.peer)
    entry.bytes += record_size(Archive::measure(Archive::Kind::disk, job.number, *entry.peer));
  bytes_ += entry.bytes;
}

void JobLog::way_changed(const Job& job, Entry& entry) {
  state_log_.append(record::job_way, job.number, entry.way);
  measure(job, entry);
}

const JobLog::Entry& JobLog::entry_of(const Job& job) const {
  static const Entry nothing;
  const auto found = entries_.find(job.number);
  return found == entries_.end() ? nothing : found->second;
}

void JobLog::job_added(const Job& job, std::string_view request, const JobWay& way) {
  keep(job, request, way);
  state_log_.append(record::job, job, entry_of(job).request, entry_of(job).way);
  state_log_.write_now();  // before it is said whether it is durable
}

void JobLog::job_restored(const Job& job, std::string_view request, const JobWay& way) {
  keep(job, request, way);
}

void JobLog::job_is_of(const Job& job, const Peer& peer) {
  const auto found = entries_.find(job.number);
  if (found == entries_.end()) return;
  found->second.peer = peer;
  state_log_.append(record::job_peer, job.number, peer);
  measure(job, found->second);
}

void JobLog::job_started(const Job& job, UpstreamId id) {
  const auto found = entries_.find(job.number);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  under_way_.insert(job.number);
  entry.way.started = true;
  entry.way.id = id;
  entry.way.round.clear();
  entry.way.answers.clear();
  // What may not be sent again is no longer needed. A modern server may ask for it.
  if (!only_reads(job.method) && session_.side_for(Era::legacy) == Era::legacy) entry.request = {};
  way_changed(job, entry);
  state_log_.write_now();  // before it is sent
}

void JobLog::job_time(const Job& job, const JobTime& time) {
  const auto found = entries_.find(job.number);
  if (found == entries_.end()) return;
  found->second.way.time = time;
  // What begins is written when it has.
  if (found->second.way.started) way_changed(job, found->second);
}

void JobLog::job_is_task(const Job& job, std::uint64_t form, std::string_view raw_id) {
  const auto found = entries_.find(job.number);
  if (found == entries_.end()) return;
  found->second.way.task_form = form;
  found->second.way.task = raw_id;
  found->second.way.event_id.clear();
  found->second.request = {};
  way_changed(job, found->second);
}

void JobLog::job_asked(const Job& job, std::string_view result) {
  const auto found = entries_.find(job.number);
  if (found == entries_.end()) return;
  found->second.way.round = result;
  found->second.way.answers.clear();
  way_changed(job, found->second);
}

void JobLog::job_question_answered(const Job& job, std::string_view result) {
  const auto found = entries_.find(job.number);
  if (found == entries_.end()) return;
  found->second.way.answers.emplace_back(result);
  way_changed(job, found->second);
}

void JobLog::job_ended(const Job& job) {
  if (const auto found = entries_.find(job.number); found != entries_.end()) {
    found->second.request = {};
    found->second.way = {};
    found->second.peer.reset();
    measure(job, found->second);
  }
  under_way_.erase(job.number);
  changed_.erase(job.number);
  state_log_.append(record::job_changed, job.number, outcome_of(job));
}

void JobLog::job_forgotten(const Job& job) {
  if (const auto found = entries_.find(job.number); found != entries_.end()) {
    bytes_ -= found->second.bytes;
    entries_.erase(found);
  }
  changed_.erase(job.number);
  state_log_.append(record::job_forgotten, job.number);
}

void JobLog::key_left(const User& user, const UsedKey& key) {
  state_log_.append(record::used_key, user, key);
}

void JobLog::note_changes() {
  for (const JobNumber number : changed_) {
    const Job* const job = jobs_.store().find(number);
    if (job == nullptr) continue;
    state_log_.append(record::job_changed, number, outcome_of(*job));
    measure(*job, entries_[number]);
  }
  changed_.clear();
}

void JobLog::note_streams() {
  for (const JobNumber number : under_way_) {
    // Until that is answered the stream is to go on before the question, which then comes again.
    if (jobs_.is_asked(number)) continue;
    Entry& entry = entries_.at(number);
    note_event(*jobs_.store().find(number), entry, upstream_.last_event_of(entry.way.id));
  }
  questioned_.clear();
}

void JobLog::note_event(const Job& job, Entry& entry, std::string_view event_id) {
  if (event_id.empty() || event_id.size() > longest_event_id) return;
  if (event_id == entry.way.event_id && session_.number() == entry.way.session) return;
  entry.way.event_id = event_id;
  entry.way.session = session_.number();
  way_changed(job, entry);
}

void JobLog::job_questioned(const Job& job) {
  const auto found = entries_.find(job.number);
  if (found == entries_.end() || jobs_.is_asked(job.number)) return;
  if (!questioned_.insert(job.number).second) return;
  note_event(job, found->second, upstream_.event_before(found->second.way.id));
}

void JobLog::begin_snapshot() {
  snapshot_at_ = {};
  snapshot_end_ = jobs_.store().last_number();
  snapshot_key_ = {};
}

bool JobLog::continue_snapshot(LogWriter& out, std::size_t bytes) {
  const std::uint64_t before = out.size();
  bool more = false;
  const auto is_enough = [&] { return more = out.size() - before >= bytes; };
  jobs_.store().each_after(snapshot_at_, [&](const Job& job) {
    if (job.number > snapshot_end_ || is_enough()) return false;
    const Entry& entry = entry_of(job);
    out.append(record::job, state_log_.now(), job, entry.request, entry.way);
    if (entry.peer) out.append(record::job_peer, state_log_.now(), job.number, *entry.peer);
    snapshot_at_ = job.number;
    return true;
  });
  if (more) return true;
  jobs_.store().each_used_key_after(snapshot_key_, [&](const User& user, const UsedKey& key) {
    if (is_enough()) return false;
    out.append(record::used_key, state_log_.now(), user, key);
    snapshot_key_ = {user, key.number};
    return true;
  });
  return more;
}

std::size_t JobLog::saved_bytes() const {
  const auto [keys, texts] = jobs_.store().size_of_used_keys();
  return bytes_ + keys * record_size(Archive::measure(Archive::Kind::disk, User{}, UsedKey{})) +
         texts;
}

bool replay_orphan(std::string_view payload, LoggedOrphans& orphans) {
  UpstreamId id{};
  Orphan orphan;
  if (!Archive::read(Archive::Kind::disk, {}, payload, id, orphan)) return false;
  orphans.insert_or_assign(id, std::move(orphan));
  return true;
}

void OrphanLog::note(const std::vector<UpstreamId>& unanswered) {
  std::erase_if(orphans_, [&](const auto& entry) {
    return !std::binary_search(unanswered.begin(), unanswered.end(), entry.first);
  });
  router_.each_orphan_to_be([&](UpstreamId id, const Client& client, const std::string& method) {
    if (orphans_.contains(id) || !can_be_job(method)) return;
    Orphan orphan{client.user,
                  method,
                  client.channel.identity().pid,
                  shortened(client.channel.command()),
                  {}};
    state_log_.append(record::orphan, id, orphan);
    orphans_.emplace(id, std::move(orphan));
  });
}

void OrphanLog::note_streams() {
  for (auto& [id, orphan] : orphans_) {
    const std::string_view event_id = upstream_.last_event_of(id);
    StreamPosition& answer = orphan.answer;
    if (event_id.empty() || event_id.size() > longest_event_id ||
        (event_id == answer.event_id && session_.number() == answer.session))
      continue;
    answer = {session_.number(), std::string(event_id)};
    state_log_.append(record::orphan, id, orphan);
  }
}

void OrphanLog::say_all(LogWriter& out) const {
  for (const auto& [id, orphan] : orphans_)
    out.append(record::orphan, state_log_.now(), id, orphan);
}

}  // namespace bridge
