#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

namespace bridge {

/// Writes whole lines to a descriptor that is not ours alone: its flags are left as they are.
///
/// A pipe may be full, and whoever was to read it may never do so. A line waits for room for at
/// most `timeout`; then it is lost and counted, and no further one waits until there is room
/// again. To anything that is no pipe is written as to a file.
class StderrWriter {
 public:
  explicit StderrWriter(int descriptor, std::chrono::milliseconds timeout);

  /// `line` with its line end. False if it was lost, or its end was.
  bool write(std::string_view line);

  /// Lines lost since the last call that gave a number above 0; only once there is room again.
  std::uint64_t take_lost();

 private:
  bool has_room(std::chrono::milliseconds timeout) const;
  bool write_some(std::string_view& rest) const;

  int descriptor_;
  std::chrono::milliseconds timeout_;
  bool is_pipe_;
  bool stuck_ = false;   ///< the last line was lost
  bool halved_ = false;  ///< and its beginning was written
  std::uint64_t lost_ = 0;
};

}  // namespace bridge
