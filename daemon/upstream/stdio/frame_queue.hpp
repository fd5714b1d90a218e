#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/ids.hpp"

namespace bridge {

/// A message on its way into the child's stdin.
struct QueuedFrame {
  UpstreamId id{};
  std::string body;         ///< one line, without `\n`
  std::uint64_t begin = 0;  ///< where in the stream its first byte is, once that is written
};

/// The frames that wait for room in a pipe, in order, each written as a line. Knows its size and
/// leaves the bound to its owner, the ChildProcess. The loop's thread only; never blocks.
class FrameQueue {
 public:
  static constexpr std::size_t cost_of_frame = 512;

  enum class State {
    empty,    ///< all is written
    blocked,  ///< the pipe is full
    broken,   ///< nobody reads it any more
  };

  void push(UpstreamId id, std::string body);
  /// Writes what the pipe takes, as many frames as fit in one system call. Frames that are written
  /// whole go to the end of `written`.
  State write_to(int descriptor, std::vector<QueuedFrame>& written);

  /// Takes a frame out; not if its first byte is written.
  bool remove(UpstreamId id);
  /// All frames; of the first one some may be written, then it has its place in the stream.
  std::vector<QueuedFrame> take_all(bool& first_begun);

  const std::deque<QueuedFrame>& frames() const { return frames_; }
  /// Bytes of the first of them that are written.
  std::size_t progress() const { return progress_; }
  /// Goes on where another queue has ended; its frames are pushed first. REQUIRES: it is new.
  void go_on_from(std::size_t progress, std::uint64_t position) {
    position_ = position;
    progress_ = frames_.empty() ? 0 : std::min(progress, frames_.front().body.size());
    bytes_ -= progress_;
  }

  std::size_t bytes() const { return bytes_; }
  /// What it costs in memory, with what is noted of each frame elsewhere.
  std::size_t cost() const { return bytes_ + frames_.size() * cost_of_frame; }
  /// Bytes written so far: where in the stream the next one goes.
  std::uint64_t position() const { return position_; }

 private:
  void advance(std::size_t count, std::vector<QueuedFrame>& written);

  std::deque<QueuedFrame> frames_;
  std::size_t bytes_ = 0;  ///< of the frames, with their line ends, less what is written
  std::uint64_t position_ = 0;
  std::size_t progress_ = 0;  ///< bytes of the first frame that are written
};

}  // namespace bridge
