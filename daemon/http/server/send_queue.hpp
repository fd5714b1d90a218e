#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>

namespace bridge {

/// What a connection has still to write, in the pieces in which it came. Pure, and not bounded by
/// itself: whoever pushes looks at bytes().
class SendQueue {
 public:
  /// REQUIRES: not empty.
  void push(std::string piece) {
    bytes_ += piece.size();
    pieces_.push_back(std::move(piece));
  }
  bool empty() const { return pieces_.empty(); }
  std::size_t bytes() const { return bytes_; }
  /// How many bytes have been consumed, in all.
  std::uint64_t consumed() const { return consumed_; }

  /// Sets up to `room` of the vectors to what is next; returns how many.
  std::size_t gather(iovec* vectors, std::size_t room) {
    std::size_t count = 0;
    std::size_t offset = offset_;
    for (auto piece = pieces_.begin(); piece != pieces_.end() && count < room; ++piece) {
      vectors[count++] = {piece->data() + offset, piece->size() - offset};
      offset = 0;
    }
    return count;
  }
  /// These were written. REQUIRES: bytes <= bytes().
  void consume(std::size_t bytes) {
    consumed_ += bytes;
    bytes_ -= bytes;
    offset_ += bytes;
    while (!pieces_.empty() && offset_ >= pieces_.front().size()) {
      offset_ -= pieces_.front().size();
      pieces_.pop_front();
    }
  }

 private:
  std::deque<std::string> pieces_;
  std::size_t offset_ = 0;  ///< consumed of the first piece
  std::size_t bytes_ = 0;
  std::uint64_t consumed_ = 0;
};

}  // namespace bridge
