#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "json/received_text.hpp"

namespace bridge {

class JsonProgress;

/// The first and the last bytes of a text that is too long to be kept, however it was chunked.
/// Pure.
class TextEnds {
 public:
  static constexpr std::size_t most = 256;  ///< bytes of either end

  void add(std::string_view part) {
    beginning_.append(part.substr(0, most - beginning_.size()));
    end_.append(part.substr(part.size() - std::min(part.size(), most)));
    if (end_.size() > most) end_.erase(0, end_.size() - most);
  }

  const std::string& beginning() const { return beginning_; }
  const std::string& end() const { return end_; }

 private:
  std::string beginning_;
  std::string end_;
};

/// A text, most likely a JSON message, of which the end has not come: it is kept, and a large one
/// is checked (JsonProgress) piece by piece while the rest of it is still on its way.
///
/// One after the other; not thread-safe. Memory: the bytes that came, which beyond `large` are
/// moved no more however many follow, and behind them 64 KiB or an eighth of them; beside them what
/// JsonProgress needs. Address space: the limit of a large one. Time of each call: linear in the
/// piece.
class ArrivingText {
 public:
  ArrivingText();
  ~ArrivingText();
  ArrivingText(ArrivingText&& other) noexcept;
  ArrivingText& operator=(ArrivingText&& other) noexcept;

  /// Beyond it there is room for the limit at once: only what is written to becomes memory.
  static constexpr std::size_t large = 256u << 10;

  /// So many bytes are said to come.
  void expect(std::size_t bytes) { bytes_.reserve(bytes + room_behind(bytes)); }

  /// More of it. `limit` of the whole, in bytes: the caller keeps to it.
  void append(std::string_view piece, std::size_t limit);
  /// Takes its last byte away. REQUIRES: there is one, and at most one was taken away since the
  /// last piece.
  void drop_last() { bytes_.pop_back(); }

  /// It is whole: gives it away, and begins the next one.
  ReceivedText take();
  /// Begins the next one, and frees what was kept.
  void clear();
  /// The beginning that another one had.
  void restore(std::string beginning) { bytes_ = std::move(beginning); }

  const std::string& bytes() const { return bytes_; }
  std::size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }

 private:
  /// For what whoever has it puts into it: a longer id, the end of a line; where it is worth a copy
  /// saved, also what a request for a server of the other era carries (`_meta`).
  static constexpr std::size_t room_behind(std::size_t bytes) { return bytes < 4096 ? 64 : 512; }

  void make_room(std::size_t size, std::size_t limit);
  void prepare_memory();

  std::string bytes_;
  std::size_t prepared_ = 0;                ///< so far there is memory behind the addresses
  std::unique_ptr<JsonProgress> progress_;  ///< of a large one
};

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

  /// What another splitter needs of a line that is not complete.
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
  void restore(Rest rest) {
    pending_.restore(std::move(rest.pending));
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
