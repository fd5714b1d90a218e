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

#include "notifications/ring.hpp"

namespace bridge {

/// What waits to be written to one client, in the order of its arrival: answers and requests are
/// held here, session notifications are read from the ring when their turn comes.
///
/// Pure: gather() says what to write next, consume() what was written. Unbounded by itself: the
/// owner looks at bytes().
class Outbox {
 public:
  enum class Place : std::uint8_t { none, taken, reads };
  friend constexpr Place last_of(Place) { return Place::reads; }
  struct Queued {
    std::string line;
    Sequence behind{};  ///< goes after the ring's entries up to this one
    Sequence entry{};   ///< of the ring, of which it tells; 0: none

    template <class A>
    void each_field(A& archive) {
      archive(line, behind, entry);
    }
  };
  /// All that is saved in an upgrade.
  struct State {
    RingReader reader;
    Sequence last_to_read = static_cast<Sequence>(~std::uint64_t{0});
    Place place = Place::none;  ///< in the ring
    std::deque<std::string> ahead;
    std::deque<Queued> queued;
    std::string partial;  ///< a frame of which a part was written
    std::size_t partial_written = 0;
    std::optional<Sequence> partial_entry;  ///< if that is from the ring
    Sequence partial_tells_of{};            ///< Queued::entry of it
    std::vector<Sequence> written_entries;  ///< told of by frames that were written whole
    std::uint64_t lost = 0;

    template <class A>
    void each_field(A& archive) {
      archive(reader, last_to_read, place, ahead, queued, partial, partial_written, partial_entry,
              partial_tells_of, written_entries, lost);
    }
  };

  explicit Outbox(Ring& ring) : ring_(ring) {}

  /// Queues a frame behind all that is in the ring now. `entry`: the ring's entry that it tells of;
  /// once the client has read the frame, that counts as taken.
  void push(std::string frame, Sequence entry = {});
  /// Queues a frame ahead of all that has not begun to be written.
  void push_ahead(std::string frame);

  /// What of the ring is for it; null: all.
  void show_only(std::shared_ptr<const RingFilter> filter) {
    filter_ = std::move(filter);
    state_.reader.filter = filter_.get();
  }
  /// Takes its position in the ring without reading yet: what comes from now on is for it, whoever
  /// takes it meanwhile.
  void take_position(WallTime now);
  /// Begins to read the ring from its position, or from the present one if it has none.
  void join(WallTime now);
  /// Gives up its position.
  void stop_reading();
  /// Reads no further than what is in the ring now.
  void stop_at_newest();

  /// The next pieces to write; 0 if there is nothing. The pieces are valid until the next change of
  /// the outbox or the ring.
  std::size_t gather(iovec* pieces, std::size_t capacity);
  /// `bytes` of the pieces gathered last were written.
  void consume(std::size_t bytes);

  /// The client was seen to have read all that was written: what of the ring was written whole is
  /// acknowledged.
  void acknowledge();
  bool has_unacknowledged() const {
    return (reads_ring() && state_.reader.acknowledged < state_.reader.next) ||
           !state_.written_entries.empty();
  }
  /// The client did not want what it was given of the ring: nobody has taken that.
  void give_back();

  State save() const;
  /// REQUIRES: it is new, and the ring was restored.
  void restore(State saved);

  std::size_t bytes() const { return bytes_; }
  std::size_t frames() const {
    return state_.queued.size() + state_.ahead.size() + (state_.partial.empty() ? 0 : 1);
  }
  bool reads_ring() const { return state_.place == Place::reads; }
  const RingReader& reader() const { return state_.reader; }
  /// Ring entries that were pushed out before this client came to read them; counted once.
  std::uint64_t take_lost();

 private:
  enum class Source : std::uint8_t { partial, ahead, queued, ring };
  struct Piece {
    Source source;
    std::size_t size;
    RingReader reader_after;  ///< of a piece from the ring
    std::uint64_t lost_before = 0;
  };

  void add_piece(iovec* pieces, Source source, const char* data, std::size_t size);
  void keep_rest(const Piece& piece, std::size_t written);
  void pop(Source source);
  void note_written(Sequence entry);

  Ring& ring_;
  State state_;
  std::shared_ptr<const RingFilter> filter_;  ///< of the reader
  std::size_t bytes_ = 0;
  std::vector<Piece> gathered_;
};

}  // namespace bridge
