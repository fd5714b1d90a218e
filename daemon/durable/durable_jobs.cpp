#include "durable/durable_jobs.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "durable/record_types.hpp"
#include "mcp/methods.hpp"

namespace bridge {

WallTime DurableJobs::on_calendar(SteadyTime time) const {
  return loop_.wall_time() + std::chrono::duration_cast<WallTime::duration>(time - loop_.now());
}

SteadyTime DurableJobs::on_clock(WallTime time) const {
  // Far enough for any job, and no further than a clock can show.
  constexpr std::chrono::hours furthest{24 * 366 * 100};
  const auto off = std::clamp<WallTime::duration>(time - loop_.wall_time(), -furthest, furthest);
  return loop_.now() + std::chrono::duration_cast<SteadyTime::duration>(off);
}

RestoredJobs DurableJobs::restore(JobReplay replay, bool may_act) {
  for (ReplayedKey& replayed : replay.keys()) {
    replayed.key.until = on_clock(replayed.until);
    if (replayed.key.until > loop_.now())
      jobs_.store().restore(replayed.user, std::move(replayed.key));
  }
  std::vector<ReplayedJob*> ended;
  for (auto& [number, replayed] : replay.jobs()) {
    if (is_end(replayed.kept.job.state)) ended.push_back(&replayed);
  }
  std::stable_sort(
      ended.begin(), ended.end(),
      [](const ReplayedJob* left, const ReplayedJob* right) { return left->ended < right->ended; });
  for (ReplayedJob* const replayed : ended) {
    // If the calendar was set back nothing is kept for longer than from now.
    replayed->kept.job.ended = std::min(on_clock(replayed->ended), loop_.now());
    jobs_.store().restore(std::move(replayed->kept.job));
  }
  RestoredJobs restored;
  for (auto& [number, replayed] : replay.jobs()) {
    if (is_end(replayed.kept.job.state)) continue;
    const JobNumber of_job = replayed.kept.job.number;
    jobs_.take_over(std::move(replayed.kept), may_act);
    const Job* const job = jobs_.store().find(of_job);
    ++restored.unfinished;
    if (job == nullptr || is_end(job->state)) ++restored.failed;
  }
  jobs_.restored();
  return restored;
}

void DurableJobs::adopt(UpstreamId id, KeptOrphan orphan) {
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
  state_log_.append(record::job, record_of(*jobs_.store().find(number)));
}

void DurableJobs::keep(const Job& job, std::string_view request, const JobWay& way) {
  Entry& entry = entries_[job.number];
  entry.request = request;
  entry.way = way;
  if (way.started && !is_end(job.state)) under_way_.insert(job.number);
  measure(job, entry);
}

void DurableJobs::measure(const Job& job, Entry& entry) {
  bytes_ -= entry.bytes;
  entry.bytes = record_size(size_of_job_record(job, entry.request, entry.way));
  bytes_ += entry.bytes;
}

void DurableJobs::way_changed(const Job& job, Entry& entry) {
  state_log_.append(record::job_way, job_way_record(job.number, entry.way));
  measure(job, entry);
}

std::string DurableJobs::record_of(const Job& job) const {
  static const Entry nothing;
  const auto found = entries_.find(job.number);
  const Entry& entry = found == entries_.end() ? nothing : found->second;
  return job_record(job, is_end(job.state) ? on_calendar(job.ended) : WallTime(), entry.request,
                    entry.way);
}

void DurableJobs::job_added(const Job& job, std::string_view request, const JobWay& way) {
  keep(job, request, way);
  state_log_.append(record::job, record_of(job));
  state_log_.write_now();  // before it is said whether it is durable
}

void DurableJobs::job_restored(const Job& job, std::string_view request, const JobWay& way) {
  keep(job, request, way);
}

void DurableJobs::job_started(const Job& job, UpstreamId id) {
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

void DurableJobs::job_time(const Job& job, const JobTime& time) {
  const auto found = entries_.find(job.number);
  if (found == entries_.end()) return;
  found->second.way.time = time;
  // What begins is written when it has.
  if (found->second.way.started) way_changed(job, found->second);
}

void DurableJobs::job_is_task(const Job& job, std::uint64_t form, std::string_view raw_id) {
  const auto found = entries_.find(job.number);
  if (found == entries_.end()) return;
  found->second.way.task_form = form;
  found->second.way.task = raw_id;
  found->second.way.event_id.clear();
  found->second.request = {};
  way_changed(job, found->second);
}

void DurableJobs::job_asked(const Job& job, std::string_view result) {
  const auto found = entries_.find(job.number);
  if (found == entries_.end()) return;
  found->second.way.round = result;
  found->second.way.answers.clear();
  way_changed(job, found->second);
}

void DurableJobs::job_question_answered(const Job& job, std::string_view result) {
  const auto found = entries_.find(job.number);
  if (found == entries_.end()) return;
  found->second.way.answers.emplace_back(result);
  way_changed(job, found->second);
}

void DurableJobs::job_ended(const Job& job) {
  if (const auto found = entries_.find(job.number); found != entries_.end()) {
    found->second.request = {};
    found->second.way = {};
    measure(job, found->second);
  }
  under_way_.erase(job.number);
  changed_.erase(job.number);
  state_log_.append(record::job_ended, job_ended_record(job, on_calendar(job.ended)));
}

void DurableJobs::job_forgotten(const Job& job) {
  if (const auto found = entries_.find(job.number); found != entries_.end()) {
    bytes_ -= found->second.bytes;
    entries_.erase(found);
  }
  changed_.erase(job.number);
  state_log_.append(record::job_forgotten, job_forgotten_record(job.number));
}

void DurableJobs::key_left(const User& user, const UsedKey& key) {
  state_log_.append(record::used_key, used_key_record(user, key, on_calendar(key.until)));
}

void DurableJobs::note_changes() {
  for (const JobNumber number : changed_) {
    const Job* const job = jobs_.store().find(number);
    if (job == nullptr) continue;
    state_log_.append(record::job_changed, job_changed_record(*job));
    measure(*job, entries_[number]);
  }
  changed_.clear();
}

void DurableJobs::note_streams() {
  for (const JobNumber number : under_way_) {
    // Until that is answered the stream is to go on before the question, which then comes again.
    if (jobs_.is_asked(number)) continue;
    Entry& entry = entries_.at(number);
    note_event(*jobs_.store().find(number), entry, upstream_.last_event_of(entry.way.id));
  }
  questioned_.clear();
}

void DurableJobs::note_event(const Job& job, Entry& entry, std::string_view event_id) {
  if (event_id.empty() || event_id.size() > longest_event_id) return;
  if (event_id == entry.way.event_id && session_.number() == entry.way.session) return;
  entry.way.event_id = event_id;
  entry.way.session = session_.number();
  way_changed(job, entry);
}

void DurableJobs::job_questioned(const Job& job) {
  const auto found = entries_.find(job.number);
  if (found == entries_.end() || jobs_.is_asked(job.number)) return;
  if (!questioned_.insert(job.number).second) return;
  note_event(job, found->second, upstream_.event_before(found->second.way.id));
}

void DurableJobs::begin_snapshot() {
  snapshot_at_ = {};
  snapshot_end_ = jobs_.store().last_number();
  snapshot_key_ = {};
}

bool DurableJobs::continue_snapshot(LogWriter& out, std::size_t bytes) {
  const std::uint64_t before = out.size();
  bool more = false;
  const auto is_enough = [&] { return more = out.size() - before >= bytes; };
  jobs_.store().each_after(snapshot_at_, [&](const Job& job) {
    if (job.number > snapshot_end_ || is_enough()) return false;
    out.append(record::job, record_of(job));
    snapshot_at_ = job.number;
    return true;
  });
  if (more) return true;
  jobs_.store().each_used_key_after(snapshot_key_, [&](const User& user, const UsedKey& key) {
    if (is_enough()) return false;
    out.append(record::used_key, used_key_record(user, key, on_calendar(key.until)));
    snapshot_key_ = {user, key.number};
    return true;
  });
  return more;
}

std::size_t DurableJobs::kept_bytes() const {
  const auto [keys, texts] = jobs_.store().size_of_used_keys();
  return bytes_ + keys * record_size(size_of_used_key_record()) + texts;
}

}  // namespace bridge
