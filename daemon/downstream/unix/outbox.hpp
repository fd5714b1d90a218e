#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/spare_memory.hpp"
#include "notifications/ring.hpp"

namespace bridge {

/// The queue of one client, in the order of arrival: responses and requests are held here, session
/// notifications are read from the ring when their turn comes.
///
/// Pure: gather() returns what to write next, consume() is told what was written. Frames are
/// unbounded: the owner checks bytes().
class Outbox {
 public:
  enum class Place : std::uint8_t { none, taken, reads };
  friend constexpr Place last_of(Place) { return Place::reads; }
  struct Queued {
    std::string line;
    Sequence behind{};  ///< to be sent after the ring's entries up to this one
    Sequence entry{};   ///< the ring entry that it is about; 0: none

    template <class A>
    void each_field(A& archive) {
      archive(line, behind, entry);
    }
  };
  /// All that an upgrade saves.
  struct State {
    RingReader reader;
    Sequence last_to_read = static_cast<Sequence>(~std::uint64_t{0});
    Place place = Place::none;  ///< in the ring
    std::deque<std::string> ahead;
    std::deque<Queued> queued;
    std::string partial;  ///< a frame that was partly written
    std::size_t partial_written = 0;
    std::optional<Sequence> partial_entry;  ///< its ring entry, if it has one
    Sequence partial_tells_of{};            ///< Queued::entry of it
    /// Queued::entry of frames that were written whole. At most twice the ring's, and a few.
    std::vector<Sequence> written_entries;
    std::uint64_t lost = 0;

    template <class A>
    void each_field(A& archive) {
      archive(reader, last_to_read, place, ahead, queued, partial, partial_written, partial_entry,
              partial_tells_of, written_entries, lost);
    }
  };

  explicit Outbox(Ring& ring) : ring_(ring) {}

  /// Queues a frame after all that is in the ring now. `entry`: the ring entry that it is about,
  /// which counts as taken once the client has read the frame.
  void push(std::string frame, Sequence entry = {});
  /// Queues a frame before all that is not partly written.
  void push_ahead(std::string frame);

  /// Which of the ring's entries the client sees; null: all.
  void show_only(std::shared_ptr<const RingFilter> filter) {
    filter_ = std::move(filter);
    state_.reader.filter = filter_.get();
  }
  /// Takes a position in the ring without reading yet: entries from now on are for this client,
  /// even if another one takes them meanwhile.
  void take_position(WallTime now);
  /// Starts reading the ring from its position, or from the present end if it has none.
  void join(WallTime now);
  /// Drops its position.
  void stop_reading();
  /// Reads no further than the present end of the ring.
  void stop_at_newest();

  /// The next pieces to write; 0 if there are none. Valid until the next change of the outbox or
  /// the ring.
  std::size_t gather(iovec* pieces, std::size_t capacity);
  /// `bytes` of the last gathered pieces were written.
  void consume(std::size_t bytes);

  /// The client has read all that was written: acknowledges the ring entries that were written
  /// whole.
  void acknowledge();
  bool has_unacknowledged() const {
    return (reads_ring() && state_.reader.acknowledged < state_.reader.next) ||
           !state_.written_entries.empty();
  }
  /// The client did not want the entries that it was sent: they do not count as taken.
  void give_back();

  State save() const;
  /// REQUIRES: it is new, and the ring was restored.
  void restore(State saved);

  std::size_t bytes() const { return bytes_; }
  /// What the queue takes in memory: bytes() with what strings reserve, and their places.
  std::size_t memory() const { return memory_ + memory_of_text(state_.partial); }
  std::size_t frames() const {
    return state_.queued.size() + state_.ahead.size() + (state_.partial.empty() ? 0 : 1);
  }
  bool reads_ring() const { return state_.place == Place::reads; }
  const RingReader& reader() const { return state_.reader; }
  /// Ring entries that were pushed out before this client read them; resets the count.
  std::uint64_t take_lost();

 private:
  enum class Source : std::uint8_t { partial, ahead, queued, ring };
  struct Piece {
    Source source;
    std::size_t size;
    RingReader reader_after;  ///< for a piece from the ring
    std::uint64_t lost_before = 0;
  };

  void add_piece(iovec* pieces, Source source, const char* data, std::size_t size);
  void keep_rest(const Piece& piece, std::size_t written);
  void pop(Source source);
  void note_written(Sequence entry);

  Ring& ring_;
  State state_;
  std::shared_ptr<const RingFilter> filter_;  ///< null: all entries
  std::size_t bytes_ = 0;
  std::size_t memory_ = 0;  ///< without the partly written frame
  std::vector<Piece> gathered_;
};

}  // namespace bridge
