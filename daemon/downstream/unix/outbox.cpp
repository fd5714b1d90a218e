#include "downstream/unix/outbox.hpp"

#include <algorithm>
#include <utility>

namespace bridge {

void Outbox::push(std::string frame, Sequence entry) {
  frame.push_back('\n');
  bytes_ += frame.size();
  queued_.push_back({std::move(frame), ring_.newest(), entry});
}

void Outbox::push_ahead(std::string frame) {
  frame.push_back('\n');
  bytes_ += frame.size();
  ahead_.push_back(std::move(frame));
}

void Outbox::take_position(WallTime now) {
  if (place_ != Place::none) return;
  reader_ = ring_.join(now);
  place_ = Place::taken;
}

void Outbox::join(WallTime now) {
  if (place_ == Place::reads) return;
  if (place_ == Place::taken) ring_.expire(now);
  take_position(now);
  place_ = Place::reads;
}

void Outbox::stop_reading() { place_ = Place::none; }

void Outbox::stop_at_newest() { last_to_read_ = ring_.newest(); }

void Outbox::add_piece(iovec* pieces, Source source, const char* data, std::size_t size) {
  pieces[gathered_.size()] = {const_cast<char*>(data), size};
  gathered_.push_back({source, size, {}, 0});
}

std::size_t Outbox::gather(iovec* pieces, std::size_t capacity) {
  gathered_.clear();
  if (!partial_.empty()) {
    add_piece(pieces, Source::partial, partial_.data() + partial_written_,
              partial_.size() - partial_written_);
  }
  for (const std::string& line : ahead_) {
    if (gathered_.size() == capacity) return capacity;
    add_piece(pieces, Source::ahead, line.data(), line.size());
  }
  auto next = queued_.begin();
  const auto until = [&] {
    return std::min(next == queued_.end() ? ring_.newest() : next->behind, last_to_read_);
  };
  // What is not for this client, or was pushed out before it came to it, is passed for good.
  if (reads_ring()) ring_.next_for(reader_, until(), lost_);
  RingReader reader = reader_;
  while (gathered_.size() < capacity) {
    std::uint64_t lost_before = 0;
    const RingEntry* entry = reads_ring() ? ring_.next_for(reader, until(), lost_before) : nullptr;
    if (entry != nullptr) {
      Ring::advance(reader, *entry);
      add_piece(pieces, Source::ring, entry->line.data(), entry->line.size());
      gathered_.back().reader_after = reader;
      gathered_.back().lost_before = lost_before;
    } else if (next != queued_.end()) {
      add_piece(pieces, Source::queued, next->line.data(), next->line.size());
      ++next;
    } else {
      break;
    }
  }
  return gathered_.size();
}

void Outbox::consume(std::size_t bytes) {
  for (const Piece& piece : gathered_) {
    if (bytes == 0) break;
    if (piece.source == Source::ring) {
      reader_ = piece.reader_after;
      lost_ += piece.lost_before;
    }
    if (bytes < piece.size) {
      keep_rest(piece, bytes);
      break;
    }
    bytes -= piece.size;
    pop(piece.source);
  }
  gathered_.clear();
}

void Outbox::pop(Source source) {
  switch (source) {
    case Source::partial:
      if (!partial_entry_) bytes_ -= partial_.size();
      partial_entry_.reset();
      note_written(std::exchange(partial_tells_of_, {}));
      std::string().swap(partial_);
      partial_written_ = 0;
      break;
    case Source::ahead:
      bytes_ -= ahead_.front().size();
      ahead_.pop_front();
      break;
    case Source::queued:
      bytes_ -= queued_.front().line.size();
      note_written(queued_.front().entry);
      queued_.pop_front();
      break;
    case Source::ring: break;
  }
}

void Outbox::keep_rest(const Piece& piece, std::size_t written) {
  switch (piece.source) {
    case Source::partial: partial_written_ += written; return;
    case Source::ahead:
      partial_ = std::move(ahead_.front());
      ahead_.pop_front();
      break;
    case Source::queued:
      partial_ = std::move(queued_.front().line);
      partial_tells_of_ = queued_.front().entry;
      queued_.pop_front();
      break;
    case Source::ring: {
      // The ring may push the entry out before the rest of it is written. each_after() leaves out
      // the entry that it is given, and `next` is the one behind this.
      ring_.each_after(static_cast<Sequence>(value_of(piece.reader_after.next) - 2),
                       [&](const RingEntry& entry) {
                         partial_ = entry.line;
                         partial_entry_ = entry.sequence;
                         return false;
                       });
      break;
    }
  }
  partial_written_ = written;
}

void Outbox::note_written(Sequence entry) {
  if (entry != Sequence{}) written_entries_.push_back(entry);
}

void Outbox::acknowledge() {
  reader_.acknowledged = partial_entry_.value_or(reader_.next);
  for (const Sequence entry : std::exchange(written_entries_, {})) ring_.take(entry);
}

void Outbox::give_back() {
  ring_.give_back(reader_);
  place_ = Place::none;
}

KeptOutbox Outbox::to_keep() const {
  KeptOutbox kept;
  kept.reader = reader_;
  kept.lost = lost_;
  // What was pushed out before it came to it is known to this ring alone.
  if (reads_ring()) ring_.next_for(kept.reader, ring_.newest(), kept.lost);
  kept.last_to_read = last_to_read_;
  kept.place = static_cast<std::uint64_t>(place_);
  kept.ahead.assign(ahead_.begin(), ahead_.end());
  for (const Queued& one : queued_) kept.queued.push_back({one.line, one.behind, one.entry});
  kept.partial = partial_;
  kept.partial_written = partial_written_;
  kept.partial_entry = partial_entry_.value_or(Sequence{});
  kept.partial_tells_of = partial_tells_of_;
  kept.written_entries = written_entries_;
  return kept;
}

void Outbox::go_on_with(KeptOutbox kept) {
  reader_ = ring_.rejoin(kept.reader);
  lost_ = kept.lost;
  last_to_read_ = kept.last_to_read;
  place_ = static_cast<Place>(std::min<std::uint64_t>(kept.place, 2));
  for (std::string& line : kept.ahead) {
    bytes_ += line.size();
    ahead_.push_back(std::move(line));
  }
  for (KeptOutbox::Queued& one : kept.queued) {
    bytes_ += one.line.size();
    queued_.push_back({std::move(one.line), one.behind, one.entry});
  }
  if (kept.partial_entry != Sequence{}) partial_entry_ = kept.partial_entry;
  if (!partial_entry_) bytes_ += kept.partial.size();
  partial_ = std::move(kept.partial);
  partial_written_ = std::min<std::size_t>(kept.partial_written, partial_.size());
  partial_tells_of_ = kept.partial_tells_of;
  written_entries_ = std::move(kept.written_entries);
}

std::uint64_t Outbox::take_lost() { return std::exchange(lost_, 0); }

}  // namespace bridge
