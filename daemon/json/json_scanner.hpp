#pragma once

#include <cstddef>
#include <string_view>

#include "json/received_text.hpp"

namespace bridge {

/// Why a text is not accepted as JSON.
enum class JsonFault {
  none,
  syntax,    ///< not the grammar of RFC 8259
  too_deep,  ///< nested beyond JsonScanner::max_depth
};

/// A cursor over one JSON text that checks the whole grammar of RFC 8259 and stores nothing.
///
/// Iterative: nesting costs one bit per level, so a hostile depth cannot exhaust the stack. Numbers
/// may have any size; they are checked but never converted. UTF-8 is not checked.
///
/// Every function that returns bool leaves the reason of a `false` in fault(); after that the
/// scanner must not be used further. Pure; a value.
class JsonScanner {
 public:
  static constexpr std::size_t max_depth = 1024;

  /// `text` must outlive the scanner. `depth`: how many containers are open around `text`.
  explicit JsonScanner(std::string_view text, std::size_t depth = 0)
      : text_(text), open_depth_(depth) {}

  std::size_t position() const { return position_; }
  JsonFault fault() const { return fault_; }

  void skip_space() {
    if (position_ < text_.size() && text_[position_] <= ' ') skip_spaces();
  }
  bool at_end() const { return position_ == text_.size(); }

  /// The next byte, or 0 at the end.
  char peek() const { return at_end() ? '\0' : text_[position_]; }

  /// Takes `c` if it is next.
  bool take(char c) {
    if (peek() != c || at_end()) return false;
    ++position_;
    return true;
  }

  /// Takes `c`, or fails.
  bool expect(char c) { return take(c) || fail(JsonFault::syntax); }

  /// Skips one value of this length that another scanner has taken from here.
  void skip(std::size_t length) { position_ += length; }

  /// Takes one string; `raw` is the text between the quotes.
  bool string(Slice& raw);

  /// Takes one value of any kind, with everything in it; `raw` is all of its bytes.
  bool value(Slice& raw);

  /// Walks the members of the object that starts here. `on_member(key)` is called with the scanner
  /// at the value, and must take exactly that value; its `false` ends the walk.
  template <class OnMember>
  bool object(OnMember&& on_member) {
    if (!enter('{')) return false;
    skip_space();
    if (take('}')) return leave();
    for (;;) {
      Slice key;
      skip_space();
      if (!string(key)) return false;
      skip_space();
      if (!expect(':')) return false;
      skip_space();
      if (!on_member(key)) return false;
      skip_space();
      if (take('}')) return leave();
      if (!expect(',')) return false;
    }
  }

  /// Walks the elements of the array that starts here, like object().
  template <class OnElement>
  bool array(OnElement&& on_element) {
    if (!enter('[')) return false;
    skip_space();
    if (take(']')) return leave();
    for (;;) {
      skip_space();
      if (!on_element()) return false;
      skip_space();
      if (take(']')) return leave();
      if (!expect(',')) return false;
    }
  }

 private:
  bool fail(JsonFault fault) {
    fault_ = fault;
    return false;
  }
  bool enter(char c) {
    if (!expect(c)) return false;
    return ++open_depth_ <= max_depth || fail(JsonFault::too_deep);
  }
  bool leave() {
    --open_depth_;
    return true;
  }
  void skip_spaces();
  bool escape();
  bool number();
  bool literal(std::string_view word);
  bool scalar();
  bool containers();

  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t open_depth_;
  JsonFault fault_ = JsonFault::none;
};

/// For key_is(): a key that is longer than the name.
bool escaped_key_is(std::string_view raw_key, std::string_view name);

/// Whether the raw bytes of a key (between its quotes) spell `name` once unescaped.
/// `name` must be ASCII, without a backslash, and shorter than 64 bytes.
inline bool key_is(std::string_view raw_key, std::string_view name) {
  // An escape is longer than the character it encodes.
  if (raw_key.size() <= name.size()) return raw_key == name;
  return escaped_key_is(raw_key, name);
}

}  // namespace bridge
