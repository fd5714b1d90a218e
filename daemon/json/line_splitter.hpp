#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "json/arriving_text.hpp"

namespace bridge {

/// Cuts a byte stream into lines, whatever the chunks were. Pure; one per stream.
///
/// A line ends with `\n`; a `\r` before it goes. Empty lines are not reported. A line of more than
/// `max_line` bytes is reported once as oversized, as soon as that is certain, and the rest of it
/// is discarded; so at most `max_line` + 1 bytes are ever held. A sink that wants to know what it
/// was has `on_oversized_line_end(beginning, end)`: its TextEnds.
class LineSplitter {
 public:
  explicit LineSplitter(std::size_t max_line) : max_line_(max_line) {}

  /// Calls `sink.on_line(ReceivedText)` and `sink.on_oversized_line()`, in order.
  template <class Sink>
  void feed(std::string_view chunk, Sink&& sink) {
    while (!chunk.empty()) {
      const std::size_t newline = chunk.find('\n');
      const std::string_view part = chunk.substr(0, newline);
      append(part, sink);
      if (newline == chunk.npos) return;
      end_line(sink);
      chunk.remove_prefix(newline + 1);
    }
  }

  /// The stream is over: an unterminated last line is a line.
  template <class Sink>
  void finish(Sink&& sink) {
    end_line(sink);
  }

  /// What of a line that is not complete another splitter is to go on with.
  struct Rest {
    std::string pending;
    bool discarding = false;  ///< it was over the limit, and its end has not come

    template <class Fields>
    void each_field(Fields&& fields) {
      fields(pending, discarding);
    }
    bool operator==(const Rest&) const = default;
  };
  Rest rest() const { return {pending_.bytes(), discarding_}; }
  void go_on_with(Rest rest) {
    pending_.go_on_with(std::move(rest.pending));
    discarding_ = rest.discarding;
  }

  /// Bytes held of a line that is not complete.
  std::size_t pending_bytes() const { return pending_.size(); }

 private:
  template <class Sink>
  void append(std::string_view part, Sink& sink) {
    if (discarding_) {
      ends_.add(part);
      return;
    }
    // One byte more than the limit may still be the \r of a line that is just long enough.
    const std::size_t length = pending_.size() + part.size();
    const bool fits = length <= max_line_ || (length == max_line_ + 1 && last_of(part) == '\r');
    if (fits) {
      pending_.append(part, max_line_ + 1);
      return;
    }
    discarding_ = true;
    ends_.add(pending_.bytes());
    ends_.add(part);
    pending_.clear();
    sink.on_oversized_line();
  }

  char last_of(std::string_view part) const {
    if (!part.empty()) return part.back();
    return pending_.empty() ? '\0' : pending_.bytes().back();
  }

  template <class Sink>
  void end_line(Sink& sink) {
    if (discarding_) {
      discarding_ = false;
      const TextEnds ends = std::exchange(ends_, {});
      if constexpr (requires { sink.on_oversized_line_end(ends.beginning(), ends.end()); })
        sink.on_oversized_line_end(ends.beginning(), ends.end());
      return;
    }
    if (last_of({}) == '\r') pending_.drop_last();
    if (!pending_.empty()) sink.on_line(pending_.take());
  }

  std::size_t max_line_;
  ArrivingText pending_;
  TextEnds ends_;  ///< of the line that is being discarded
  bool discarding_ = false;
};

}  // namespace bridge
