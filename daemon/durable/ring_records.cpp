#include "durable/ring_records.hpp"

#include "durable/wall_time.hpp"
#include "state/fields.hpp"

namespace bridge {

std::string ring_entry_record(const RingEntry& entry, const StreamPosition& position) {
  FieldWriter fields;
  fields.number(value_of(entry.sequence)).number(microseconds_of(entry.time)).number(entry.taken());
  fields.text(entry.coalesce_key).text(entry.line);
  fields.number(position.session).text(position.event_id);
  return fields.bytes();
}

std::string ring_marks_record(bool taken, const std::vector<Sequence>& entries) {
  FieldWriter fields;
  fields.number(taken);
  for (const Sequence sequence : entries) fields.number(value_of(sequence));
  return fields.bytes();
}

std::string ring_superseded_record(Sequence sequence) {
  return FieldWriter().number(value_of(sequence)).bytes();
}

std::string ring_counts_record(const RingCounts& counts, Sequence oldest) {
  FieldWriter fields;
  fields.number(value_of(oldest)).number(counts.newest);
  fields.number(counts.dropped).number(counts.taken).number(counts.coalesced);
  return fields.bytes();
}

bool RingReplay::entry(std::string_view payload, StreamPosition& position) {
  FieldReader fields(payload);
  RingEntry entry;
  const std::uint64_t sequence = fields.number();
  entry.sequence = static_cast<Sequence>(sequence);
  entry.time = wall_time_of(fields.number());
  entry.taken_by = fields.number() != 0 ? 1 : 0;
  entry.coalesce_key = fields.text();
  entry.line = fields.text();
  const std::uint64_t session = fields.number();
  const std::string_view event_id = fields.text();
  if (!fields.is_done() || sequence == 0 || !entry.line.ends_with('\n')) return false;
  if (session != 0) position = {session, std::string(event_id)};
  entries_.insert_or_assign(sequence, std::move(entry));
  // Kept no longer than they will be: what has left the ring is not held until the end.
  while (!entries_.empty() && entries_.begin()->first < oldest_) entries_.erase(entries_.begin());
  return true;
}

bool RingReplay::marks(std::string_view payload) {
  FieldReader fields(payload);
  const bool taken = fields.number() != 0;
  while (fields.is_good() && !fields.is_at_end()) {
    const auto found = entries_.find(fields.number());
    if (found != entries_.end()) found->second.taken_by = taken ? 1 : 0;
  }
  return fields.is_done();
}

bool RingReplay::superseded(std::string_view payload) {
  FieldReader fields(payload);
  entries_.erase(fields.number());
  return fields.is_done();
}

bool RingReplay::counts(std::string_view payload) {
  FieldReader fields(payload);
  oldest_ = fields.number();
  counts_.newest = fields.number();
  counts_.dropped = fields.number();
  counts_.taken = fields.number();
  counts_.coalesced = fields.number();
  return fields.is_done();
}

std::vector<RingEntry> RingReplay::take_entries() {
  std::vector<RingEntry> all;
  for (auto& [sequence, entry] : entries_) {
    if (sequence >= oldest_) all.push_back(std::move(entry));
  }
  entries_.clear();
  return all;
}

}  // namespace bridge
