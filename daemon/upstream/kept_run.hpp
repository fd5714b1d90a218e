#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bridge {

/// A local server's process, its pipes and its watcher, for another image of the program to go on
/// with. A value; the descriptors stay whose they are.
struct KeptRun {
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  struct Frame {
    std::uint64_t id = 0;
    std::string body;

    template <class Fields>
    void each_field(Fields&& fields) {
      fields(id, body);
    }
  };

  std::uint64_t watcher_version = 0;  ///< of the messages that the watcher knows
  std::uint64_t watcher = none;       ///< the socket to it
  std::uint64_t watcher_pid = 0;
  std::uint64_t number = 0;  ///< of the last run
  std::uint64_t restarts = 0;
  bool is_on = false;  ///< it runs; else nothing below is set
  std::uint64_t pid = none;
  std::uint64_t input = none;  ///< its stdin
  std::uint64_t output = none;
  std::uint64_t error = none;
  std::vector<Frame> frames;   ///< not written whole
  std::uint64_t progress = 0;  ///< bytes of the first that are written
  std::uint64_t position = 0;  ///< bytes written in all
  std::uint64_t unread_at_close = 0;
  std::string output_pending;
  bool output_discarding = false;
  std::string error_pending;
  bool error_discarding = false;

  template <class Fields>
  void each_field(Fields&& fields) {
    fields(watcher_version, watcher, watcher_pid, number, restarts, is_on, pid, input, output,
           error, frames, progress, position, unread_at_close, output_pending, output_discarding,
           error_pending, error_discarding);
  }
  /// All its descriptors.
  std::vector<std::uint64_t> descriptors() const {
    std::vector<std::uint64_t> all;
    for (const std::uint64_t one : {watcher, input, output, error}) {
      if (one != none) all.push_back(one);
    }
    return all;
  }
};

}  // namespace bridge
