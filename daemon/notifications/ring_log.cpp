#include "notifications/ring_log.hpp"

#include <utility>

#include "state/log_format.hpp"

namespace bridge {
namespace {

/// After this time, entries that readers have read are marked as taken.
constexpr std::chrono::milliseconds reading_time{250};

template <class... Values>
bool read(std::string_view payload, Values&... values) {
  return Archive::read(Archive::Kind::disk, {}, payload, values...);
}

}  // namespace

bool RingReplay::entry(std::string_view payload, StreamPosition& position) {
  RingEntry entry;
  StreamPosition its;
  if (!read(payload, entry, its) || entry.sequence == Sequence{} || !entry.line.ends_with('\n'))
    return false;
  if (its.session != 0) position = std::move(its);
  entries_.insert_or_assign(entry.sequence, std::move(entry));
  // Entries that have left the ring are removed at once.
  while (!entries_.empty() && entries_.begin()->first < oldest_) entries_.erase(entries_.begin());
  return true;
}

bool RingReplay::marks(std::string_view payload) {
  bool taken = false;
  std::vector<Sequence> entries;
  if (!read(payload, taken, entries)) return false;
  for (const Sequence sequence : entries) {
    const auto found = entries_.find(sequence);
    if (found != entries_.end()) found->second.taken_by = taken ? 1 : 0;
  }
  return true;
}

bool RingReplay::superseded(std::string_view payload) {
  Sequence sequence{};
  if (!read(payload, sequence)) return false;
  entries_.erase(sequence);
  return true;
}

bool RingReplay::counts(std::string_view payload) { return read(payload, oldest_, counts_); }

Ring::Saved RingReplay::take() {
  Ring::Saved saved{{}, counts_};
  for (auto& [sequence, entry] : entries_) {
    if (sequence >= oldest_) saved.entries.push_back(std::move(entry));
  }
  entries_.clear();
  return saved;
}

RingLog::RingLog(EventLoop& loop, StateLog& log, NotificationFeed& feed,
                 std::function<StreamPosition()> position)
    : log_(log),
      feed_(feed),
      position_(std::move(position)),
      look_(loop, [this] { feed_.acknowledge_read(); }) {}

RingLog::~RingLog() { feed_.ring().set_observer(nullptr); }

void RingLog::begin() {
  feed_.ring().set_observer(
      [this](RingChange change, const RingEntry& entry) { changed(change, entry); });
  counts_ = feed_.ring().counts();
}

void RingLog::changed(RingChange change, const RingEntry& entry) {
  switch (change) {
    case RingChange::taken: return mark(entry.sequence, true);
    case RingChange::given_back: return mark(entry.sequence, false);
    case RingChange::superseded: log_.append(record::ring_superseded, entry.sequence); return;
    case RingChange::pushed: break;
  }
  StreamPosition position = position_();
  const bool is_news = position != written_position_;
  log_.append(record::ring_entry, entry, is_news ? position : StreamPosition{});
  if (is_news) written_position_ = std::move(position);
  if (!look_.is_set()) look_.set_after(reading_time);
}

void RingLog::mark(Sequence sequence, bool taken) {
  if (taken != marks_taken_) write_marks();
  marks_taken_ = taken;
  marks_.push_back(sequence);
}

void RingLog::write_marks() {
  if (marks_.empty()) return;
  log_.append(record::ring_marks, marks_taken_, marks_);
  marks_.clear();
}

void RingLog::note_changes() {
  write_marks();
  const Ring& ring = feed_.ring();
  if (ring.counts() == counts_ && ring.oldest() == oldest_) return;
  counts_ = ring.counts();
  oldest_ = ring.oldest();
  log_.append(record::ring_counts, oldest_, counts_);
}

void RingLog::note_position() {
  StreamPosition position = position_();
  if (position == written_position_) return;
  written_position_ = std::move(position);
  log_.append(record::server_stream, written_position_);
}

void RingLog::begin_snapshot() {
  snapshot_at_ = {};
  snapshot_end_ = feed_.ring().newest();
}

void RingLog::snapshot_position(LogWriter& out) {
  write_marks();  // so that earlier marks are written first
  written_position_ = position_();
  out.append(record::server_stream, log_.now(), written_position_);
}

bool RingLog::continue_snapshot(LogWriter& out, std::size_t bytes) {
  const std::uint64_t before = out.size();
  bool more = false;
  feed_.ring().each_after(snapshot_at_, [&](const RingEntry& entry) {
    if (entry.sequence > snapshot_end_) return false;
    more = out.size() - before >= bytes;
    if (more) return false;
    out.append(record::ring_entry, log_.now(), entry, StreamPosition{});
    snapshot_at_ = entry.sequence;
    return true;
  });
  return more;
}

void RingLog::end_snapshot(LogWriter& out) {
  counts_ = feed_.ring().counts();
  oldest_ = feed_.ring().oldest();
  out.append(record::ring_counts, log_.now(), oldest_, counts_);
}

std::size_t RingLog::saved_bytes() const {
  static const std::size_t of_an_entry =
      record_size(Archive::measure(Archive::Kind::disk, RingEntry{}, StreamPosition{}));
  return feed_.ring().bytes() + feed_.ring().size() * of_an_entry;
}

}  // namespace bridge
