#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "downstream/unix/kept_connection.hpp"
#include "notifications/ring.hpp"

namespace bridge {

/// What waits to be written to one client, in the order of its arrival: answers and requests are
/// held here, session notifications are read from the ring when their turn comes.
///
/// Pure: gather() says what to write next, consume() what was written. Unbounded by itself: the
/// owner looks at bytes().
class Outbox {
 public:
  explicit Outbox(Ring& ring) : ring_(ring) {}

  /// Queues a frame behind all that is in the ring now. `entry`: the ring's entry that it tells of;
  /// once the client has read the frame, that counts as taken.
  void push(std::string frame, Sequence entry = {});
  /// Queues a frame ahead of all that has not begun to be written.
  void push_ahead(std::string frame);

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
    return (reads_ring() && reader_.acknowledged < reader_.next) || !written_entries_.empty();
  }
  /// The client did not want what it was given of the ring: nobody has taken that.
  void give_back();

  /// All of it, for another image of the program.
  KeptOutbox to_keep() const;
  /// REQUIRES: it is new, and the ring was restored.
  void go_on_with(KeptOutbox kept);

  std::size_t bytes() const { return bytes_; }
  std::size_t frames() const { return queued_.size() + ahead_.size() + (partial_.empty() ? 0 : 1); }
  bool reads_ring() const { return place_ == Place::reads; }
  const RingReader& reader() const { return reader_; }
  /// Ring entries that were pushed out before this client came to read them; counted once.
  std::uint64_t take_lost();

 private:
  struct Queued {
    std::string line;
    Sequence behind;  ///< goes after the ring's entries up to this one
    Sequence entry;   ///< of the ring, of which it tells; 0: none
  };
  enum class Place : std::uint8_t { none, taken, reads };
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
  RingReader reader_;
  Sequence last_to_read_ = static_cast<Sequence>(~std::uint64_t{0});
  Place place_ = Place::none;  ///< in the ring
  std::deque<std::string> ahead_;
  std::deque<Queued> queued_;
  std::string partial_;  ///< a frame of which a part was written
  std::size_t partial_written_ = 0;
  std::optional<Sequence> partial_entry_;  ///< if that is from the ring
  Sequence partial_tells_of_{};            ///< Queued::entry of it
  std::vector<Sequence> written_entries_;  ///< told of by frames that were written whole
  std::size_t bytes_ = 0;
  std::uint64_t lost_ = 0;
  std::vector<Piece> gathered_;
};

}  // namespace bridge
