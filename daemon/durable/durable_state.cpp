// What has changed, as records.
#include "durable/durable_state.hpp"

#include <algorithm>
#include <utility>

#include "durable/record_types.hpp"
#include "state/fields.hpp"

namespace bridge {
namespace {

/// So many ids are noted as used at a time: more than a turn can use.
constexpr std::uint64_t id_block = 1u << 16;
/// Readers need a moment; what they have read by then is marked as taken.
constexpr std::chrono::milliseconds reading_time{250};

}  // namespace

DurableState::~DurableState() {
  feed_.ring().set_journal(nullptr);
  jobs_.stop();
}

void DurableState::pushed(const RingEntry& entry) {
  StreamPosition position = stream_position();
  const bool is_news = position != stream_;
  state_log_.append(record::ring_entry,
                    ring_entry_record(entry, is_news ? position : StreamPosition{}));
  if (is_news) stream_ = std::move(position);
  if (!look_.is_set()) look_.set_after(reading_time);
}

void DurableState::superseded(Sequence sequence) {
  state_log_.append(record::ring_superseded, ring_superseded_record(sequence));
}

void DurableState::mark(Sequence sequence, bool taken) {
  if (taken != marks_taken_) write_marks();
  marks_taken_ = taken;
  marks_.push_back(sequence);
}

void DurableState::write_marks() {
  if (marks_.empty()) return;
  state_log_.append(record::ring_marks, ring_marks_record(marks_taken_, marks_));
  marks_.clear();
}

void DurableState::write() {
  note_changes();
  state_log_.write();
}

void DurableState::end_turn() {
  jobs_.note_streams();
  orphans_.note_streams();
  write();
}

void DurableState::begin_end() {
  seen_id_ = {};  // what has ended meanwhile is not to be cancelled
  write();
  is_ending_ = true;
}

void DurableState::end() {
  FieldWriter fields;
  fields.number(static_cast<std::uint64_t>(std::time(nullptr)));
  state_log_.append(record::ended, fields.bytes());
  state_log_.write_now();
}

void DurableState::note_changes() {
  write_marks();
  const Ring& ring = feed_.ring();
  if (ring.counts() != counts_ || ring.oldest() != oldest_) {
    counts_ = ring.counts();
    oldest_ = ring.oldest();
    state_log_.append(record::ring_counts, ring_counts_record(counts_, oldest_));
  }
  jobs_.note_changes();
  note_session();
  note_stream();
  note_ids();
  note_unanswered();
}

void DurableState::note_session() {
  const auto reference = session_.has_session() ? upstream_.session_reference() : std::nullopt;
  const bool same_reference = reference.has_value() == session_mark_.id.has_value() &&
                              (!reference || reference->id == *session_mark_.id);
  if (same_reference && session_.counts().opened == session_mark_.opened &&
      router_.settings_revision() == session_mark_.revision)
    return;
  state_log_.append(record::session, session_now());
}

std::string DurableState::session_now() {
  const auto reference = session_.has_session() ? upstream_.session_reference() : std::nullopt;
  session_mark_.opened = session_.counts().opened;
  session_mark_.revision = router_.settings_revision();
  session_mark_.id.reset();
  if (reference) session_mark_.id.emplace(reference->id);
  std::string record = session_record(session_.kept(), session_mark_.id);
  session_bytes_ = record.size();
  return record;
}

StreamPosition DurableState::stream_position() const {
  const auto reference = session_.has_session() ? upstream_.session_reference() : std::nullopt;
  if (!reference || reference->last_event_id.empty() ||
      reference->last_event_id.size() > longest_event_id)
    return {};
  return {session_.number(), std::string(reference->last_event_id)};
}

void DurableState::note_stream() {
  StreamPosition position = stream_position();
  if (position == stream_) return;
  stream_ = std::move(position);
  state_log_.append(record::server_stream, server_stream_record(stream_));
}

void DurableState::note_ids() {
  const std::uint64_t last = value_of(ids_.last());
  if (last + id_block / 2 <= reserved_ids_) return;
  reserved_ids_ = last + id_block;
  state_log_.append(record::upstream_ids, FieldWriter().number(reserved_ids_).bytes());
}

/// What has ended meanwhile is written with what begins next: cancelling it would do no harm.
void DurableState::note_unanswered() {
  if (is_ending_) return;
  // One that was answered is to become no job.
  const bool is_exact = router_.keeps_orphans();
  if (std::exchange(seen_id_, ids_.last()) == ids_.last() && !is_exact) return;
  std::vector<UpstreamId> now = router_.unanswered();
  if (is_exact) orphans_.note(now);
  if (now.empty() ? unanswered_.empty() : now == unanswered_) return;
  unanswered_ = std::move(now);
  state_log_.append(record::unanswered, unanswered_record(unanswered_));
}

void DurableState::begin_snapshot() {
  head_is_said_ = false;
  snapshot_at_ = 0;
  snapshot_end_ = value_of(feed_.ring().newest());
  jobs_.begin_snapshot();
}

/// All but ring and jobs: a step of its own, since it is as large as it is.
void DurableState::say_head(LogWriter& out) {
  write_marks();  // so that they are not behind what is said now
  out.append(record::instance, FieldWriter().text(instance_).bytes());
  out.append(record::session, session_now());
  stream_ = stream_position();
  out.append(record::server_stream, server_stream_record(stream_));
  reserved_ids_ = value_of(ids_.last()) + id_block;
  out.append(record::upstream_ids, FieldWriter().number(reserved_ids_).bytes());
  if (!is_ending_) unanswered_ = router_.unanswered();
  out.append(record::unanswered, unanswered_record(unanswered_));
  orphans_.say_all(out);
}

bool DurableState::continue_snapshot(LogWriter& out, std::size_t bytes) {
  if (!std::exchange(head_is_said_, true)) {
    say_head(out);
    return true;
  }
  const std::uint64_t before = out.size();
  bool more = false;
  feed_.ring().each_after(static_cast<Sequence>(snapshot_at_), [&](const RingEntry& entry) {
    if (value_of(entry.sequence) > snapshot_end_) return false;
    if (out.size() - before >= bytes) {
      more = true;
      return false;
    }
    out.append(record::ring_entry, ring_entry_record(entry, {}));
    snapshot_at_ = value_of(entry.sequence);
    return true;
  });
  if (more || jobs_.continue_snapshot(out, bytes - std::min(bytes, out.size() - before)))
    return true;
  counts_ = feed_.ring().counts();
  oldest_ = feed_.ring().oldest();
  out.append(record::ring_counts, ring_counts_record(counts_, oldest_));
  return false;
}

std::size_t DurableState::kept_bytes() const {
  constexpr std::size_t of_an_entry = record_size(8 * sizeof(std::uint64_t));
  return feed_.ring().bytes() + feed_.ring().size() * of_an_entry + session_bytes_ +
         jobs_.kept_bytes();
}

}  // namespace bridge
