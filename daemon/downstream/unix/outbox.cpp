#include "downstream/unix/outbox.hpp"

#include <algorithm>
#include <utility>

namespace bridge {
namespace {

/// Beyond twice what the ring holds: then written entries that it no longer has are forgotten.
constexpr std::size_t spare_entries = 64;

/// Ends the line. A string that is exactly full would be given twice its size for one byte more.
void end_line(std::string& frame) {
  if (frame.size() == frame.capacity()) {
    std::string line;
    line.reserve(frame.size() + 1);
    line += frame;
    frame = std::move(line);
  }
  frame.push_back('\n');
}

std::size_t memory_of(const std::string& line) {
  return memory_of_text(line) + sizeof(Outbox::Queued);
}

}  // namespace

void Outbox::push(std::string frame, Sequence entry) {
  end_line(frame);
  bytes_ += frame.size();
  memory_ += memory_of(frame);
  state_.queued.push_back({std::move(frame), ring_.newest(), entry});
}

void Outbox::push_ahead(std::string frame) {
  end_line(frame);
  bytes_ += frame.size();
  memory_ += memory_of(frame);
  state_.ahead.push_back(std::move(frame));
}

void Outbox::take_position(WallTime now) {
  if (state_.place != Place::none) return;
  state_.reader = ring_.join(now);
  state_.reader.filter = filter_.get();
  state_.place = Place::taken;
}

void Outbox::join(WallTime now) {
  if (state_.place == Place::reads) return;
  if (state_.place == Place::taken) ring_.expire(now);
  take_position(now);
  state_.place = Place::reads;
}

void Outbox::stop_reading() { state_.place = Place::none; }

void Outbox::stop_at_newest() { state_.last_to_read = ring_.newest(); }

void Outbox::add_piece(iovec* pieces, Source source, const char* data, std::size_t size) {
  pieces[gathered_.size()] = {const_cast<char*>(data), size};
  gathered_.push_back({source, size, {}, 0});
}

std::size_t Outbox::gather(iovec* pieces, std::size_t capacity) {
  gathered_.clear();
  if (!state_.partial.empty()) {
    add_piece(pieces, Source::partial, state_.partial.data() + state_.partial_written,
              state_.partial.size() - state_.partial_written);
  }
  for (const std::string& line : state_.ahead) {
    if (gathered_.size() == capacity) return capacity;
    add_piece(pieces, Source::ahead, line.data(), line.size());
  }
  auto next = state_.queued.begin();
  const auto until = [&] {
    return std::min(next == state_.queued.end() ? ring_.newest() : next->behind,
                    state_.last_to_read);
  };
  // Entries that are not for this client, or were pushed out before it read them, are skipped.
  if (reads_ring()) ring_.next_for(state_.reader, until(), state_.lost);
  RingReader reader = state_.reader;
  while (gathered_.size() < capacity) {
    std::uint64_t lost_before = 0;
    const RingEntry* entry = reads_ring() ? ring_.next_for(reader, until(), lost_before) : nullptr;
    if (entry != nullptr) {
      Ring::advance(reader, *entry);
      add_piece(pieces, Source::ring, entry->line.data(), entry->line.size());
      gathered_.back().reader_after = reader;
      gathered_.back().lost_before = lost_before;
    } else if (next != state_.queued.end()) {
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
      state_.reader = piece.reader_after;
      state_.lost += piece.lost_before;
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
      if (!state_.partial_entry) bytes_ -= state_.partial.size();
      state_.partial_entry.reset();
      note_written(std::exchange(state_.partial_tells_of, {}));
      std::string().swap(state_.partial);
      state_.partial_written = 0;
      break;
    case Source::ahead:
      bytes_ -= state_.ahead.front().size();
      memory_ -= memory_of(state_.ahead.front());
      state_.ahead.pop_front();
      break;
    case Source::queued:
      bytes_ -= state_.queued.front().line.size();
      memory_ -= memory_of(state_.queued.front().line);
      note_written(state_.queued.front().entry);
      state_.queued.pop_front();
      break;
    case Source::ring: break;
  }
}

void Outbox::keep_rest(const Piece& piece, std::size_t written) {
  switch (piece.source) {
    case Source::partial: state_.partial_written += written; return;
    case Source::ahead:
      memory_ -= memory_of(state_.ahead.front());
      state_.partial = std::move(state_.ahead.front());
      state_.ahead.pop_front();
      break;
    case Source::queued:
      memory_ -= memory_of(state_.queued.front().line);
      state_.partial = std::move(state_.queued.front().line);
      state_.partial_tells_of = state_.queued.front().entry;
      state_.queued.pop_front();
      break;
    case Source::ring: {
      // The ring may push the entry out before the rest of it is written. each_after() excludes the
      // entry that it is given; `next` is the one after this entry.
      ring_.each_after(static_cast<Sequence>(value_of(piece.reader_after.next) - 2),
                       [&](const RingEntry& entry) {
                         state_.partial = entry.line;
                         state_.partial_entry = entry.sequence;
                         return false;
                       });
      break;
    }
  }
  state_.partial_written = written;
}

void Outbox::note_written(Sequence entry) {
  if (entry == Sequence{}) return;
  std::vector<Sequence>& entries = state_.written_entries;
  entries.push_back(entry);
  if (entries.size() <= 2 * ring_.size() + spare_entries) return;
  std::sort(entries.begin(), entries.end());
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  std::erase_if(entries, [this](Sequence one) { return ring_.find(one) == nullptr; });
}

void Outbox::acknowledge() {
  state_.reader.acknowledged = state_.partial_entry.value_or(state_.reader.next);
  for (const Sequence entry : std::exchange(state_.written_entries, {})) ring_.take(entry);
}

void Outbox::give_back() {
  ring_.give_back(state_.reader);
  state_.place = Place::none;
}

Outbox::State Outbox::save() const {
  State saved = state_;
  // Only this ring knows what was pushed out before the client read it.
  if (reads_ring()) ring_.next_for(saved.reader, ring_.newest(), saved.lost);
  return saved;
}

void Outbox::restore(State saved) {
  state_ = std::move(saved);
  state_.reader = ring_.rejoin(state_.reader);
  state_.reader.filter = filter_.get();
  state_.partial_written = std::min(state_.partial_written, state_.partial.size());
  for (const std::string& line : state_.ahead) {
    bytes_ += line.size();
    memory_ += memory_of(line);
  }
  for (const Queued& one : state_.queued) {
    bytes_ += one.line.size();
    memory_ += memory_of(one.line);
  }
  if (!state_.partial_entry) bytes_ += state_.partial.size();
}

std::uint64_t Outbox::take_lost() { return std::exchange(state_.lost, 0); }

}  // namespace bridge
