#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

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
  /// Goes on with the beginning that another one had.
  void go_on_with(std::string beginning) { bytes_ = std::move(beginning); }

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

}  // namespace bridge
