#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

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

/// A text, most likely a JSON message, that is still incomplete: it is collected, and a large one
/// is checked (JsonProgress) piece by piece while the rest of it arrives.
///
/// One text after the other; not thread-safe. Memory: the bytes received, which are no longer moved
/// once there are more than `large`, and room for 64 KiB or an eighth of them; also what
/// JsonProgress needs. Address space: the limit of a large text. Time of each call: linear in the
/// piece.
class ArrivingText {
 public:
  ArrivingText();
  ~ArrivingText();
  ArrivingText(ArrivingText&& other) noexcept;
  ArrivingText& operator=(ArrivingText&& other) noexcept;

  /// Beyond this size the limit is reserved at once: only pages written to become memory.
  static constexpr std::size_t large = 256u << 10;

  /// Announces the size of the text.
  void expect(std::size_t bytes) { bytes_.reserve(bytes + room_behind(bytes)); }

  /// Appends a piece. `limit` is that of the whole text, in bytes; the caller enforces it.
  void append(std::string_view piece, std::size_t limit);
  /// Removes the last byte. REQUIRES: there is one, and at most one was removed since the last
  /// piece.
  void drop_last() { bytes_.pop_back(); }

  /// Returns the complete text, and starts the next one.
  ReceivedText take();
  /// Starts the next text, and frees the memory.
  void clear();
  /// Continues a text of which another object has received the beginning.
  void restore(std::string beginning) { bytes_ = std::move(beginning); }

  const std::string& bytes() const { return bytes_; }
  std::size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }

 private:
  /// Room for what is inserted later: a longer id, a line end; in larger texts, where it saves a
  /// copy, also the `_meta` of a request for a server of the other era.
  static constexpr std::size_t room_behind(std::size_t bytes) { return bytes < 4096 ? 64 : 512; }

  void make_room(std::size_t size, std::size_t limit);
  void prepare_memory();

  std::string bytes_;
  std::size_t prepared_ = 0;                ///< memory was requested up to here
  std::unique_ptr<JsonProgress> progress_;  ///< of a large text
};

/// Splits a byte stream into lines, whatever the chunks. Pure; one per stream.
///
/// A line ends with `\n`; a `\r` before it is removed. Empty lines are not reported. A line of more
/// than `max_line` bytes is reported once as oversized, as soon as that is certain, and the rest of
/// it is discarded; so at most `max_line` + 1 bytes are ever held.
class LineSplitter {
 public:
  /// The line is too long: what of it was held is gone.
  struct Oversized {};
  /// A whole line, the beginning of one that is too long, or the end of that.
  using Item = std::variant<ReceivedText, Oversized, TextEnds>;

  explicit LineSplitter(std::size_t max_line) : max_line_(max_line) {}

  /// The next item, whose bytes are removed from `chunk`; nullopt: `chunk` was read to its end.
  std::optional<Item> next(std::string_view& chunk);
  /// The end of the stream: an unterminated last line is a line.
  std::optional<Item> finish();

  /// The state of an incomplete line, for another splitter.
  struct Rest {
    std::string pending;
    bool discarding = false;  ///< the line is over the limit, and its end has not arrived

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

  /// Bytes held of an incomplete line.
  std::size_t pending_bytes() const { return pending_.size(); }

 private:
  char last_of(std::string_view part) const {
    if (!part.empty()) return part.back();
    return pending_.empty() ? '\0' : pending_.bytes().back();
  }

  std::size_t max_line_;
  ArrivingText pending_;
  TextEnds ends_;  ///< of the line being discarded
  bool discarding_ = false;
};

}  // namespace bridge
