#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace client {

/// Which requests of a connection have no answer yet, from the bytes of both directions, however
/// they are cut. Pure, and bounded: lines of up to longest_line bytes are looked at and up to
/// most_requests ids are kept, what is beyond that is not noticed. The end of a line that is too
/// long to look at, an answer without an id and a cancellation can end a request, so that none is
/// kept for ever: better forgotten than thought to be waiting.
class UnansweredRequests {
 public:
  static constexpr std::size_t longest_line = std::size_t{64} * 1024 * 1024;
  static constexpr std::size_t most_requests = 1024;
  static constexpr std::size_t longest_id = 256;

  /// Whether a request is among what has become a whole line.
  bool take_sent(std::string_view bytes);
  /// The last line needs no line break.
  bool take_end_of_sending();
  void take_received(std::string_view bytes);

  bool empty() const { return ids_.empty(); }

 private:
  /// A direction: what there is of the line that has not ended.
  struct Line {
    std::string begun;
    bool is_too_long = false;
  };
  using Take = void (UnansweredRequests::*)(std::string_view message);

  void split(Line& line, std::string_view bytes, Take take);
  void end_line(Line& line, std::string_view rest, Take take);
  void take_line(std::string_view line, Take take);
  void note_sent(std::string_view message);
  void note_received(std::string_view message);

  Line sent_;
  Line received_;
  bool has_new_ = false;
  std::set<std::string, std::less<>> ids_;  // as JSON, byte for byte
};

}  // namespace client
