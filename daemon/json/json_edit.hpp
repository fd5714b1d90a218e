#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/frame.hpp"
#include "json/json_scanner.hpp"
#include "json/received_text.hpp"

namespace bridge {

// Edits a few members in JSON text that a JsonScanner has accepted; all other bytes stay unchanged.
// Pure.

/// Replacements in one text. They must not overlap, and are added in the order of their positions.
/// Pure.
class Edits {
 public:
  void replace(Slice at, std::string with);
  void insert(std::size_t at, std::string with) { replace({at, at}, std::move(with)); }
  void erase(Slice at) {
    if (at.present()) replace(at, {});
  }
  bool empty() const { return edits_.empty(); }

  /// `text` with all edits applied, in one pass.
  std::string made_in(std::string_view text) const;
  /// The same, in place if there is room and there are few edits: the text before the first of them
  /// is then not touched, however large it is.
  void make_in(std::string& text) const;
  /// The position of this value in the edited text; absent if it was erased. REQUIRES: no edit
  /// covers only a part of it.
  Slice moved(Slice value) const;

 private:
  struct Edit {
    Slice at;
    std::string with;
  };
  /// Each edit moves the text after it.
  static constexpr std::size_t most_in_place = 4;

  std::vector<const Edit*> in_order() const;
  std::size_t size_in(std::string_view text) const;

  std::vector<Edit> edits_;
};

/// The parts to erase in order to remove elements from an object or an array, with the commas
/// between them. The elements are passed in order. Pure.
class Removal {
 public:
  Removal(Edits& edits, std::size_t offset) : edits_(edits), offset_(offset) {}

  void element(Slice whole, bool drop);
  /// REQUIRES: called after the last element. Returns whether any element remains.
  bool finish();

 private:
  void erase(std::size_t begin, std::size_t end) { edits_.erase({begin + offset_, end + offset_}); }

  Edits& edits_;
  std::size_t offset_;
  bool any_kept_ = false;
  std::size_t kept_end_ = 0;
  Slice dropped_;  ///< from the first to the last one dropped since one was kept
};

/// Walks the object at `object` in `text`: `on_member(key, whole, value)` with the raw key (between
/// its quotes), and the slices of key and value, and of the value, in `text`.
template <class OnMember>
void for_each_member(std::string_view text, Slice object, OnMember&& on_member) {
  const std::string_view own = object.of(text);
  JsonScanner scanner(own);
  scanner.skip_space();
  if (scanner.peek() != '{') return;
  scanner.object([&](Slice key) {
    Slice value;
    if (!scanner.value(value)) return false;
    on_member(key.of(own), Slice{object.begin + key.begin - 1, object.begin + value.end},
              Slice{object.begin + value.begin, object.begin + value.end});
    return true;
  });
}

/// Adds `members` (`"a":1,"b":2`, not empty) at the end of the object at `object`. Reads white
/// space only, however large the object.
void add_members(Edits& edits, std::string_view text, Slice object, std::string_view members);

/// The same, after dropping the members for whose raw key `drop` returns true. Returns whether the
/// object then has members.
template <class Drop>
bool edit_members(Edits& edits, std::string_view text, Slice object, Drop&& drop,
                  std::string_view added = {}) {
  Removal removal(edits, 0);
  for_each_member(text, object, [&](std::string_view key, Slice whole, Slice) {
    removal.element(whole, drop(key));
  });
  const bool any_kept = removal.finish();
  if (added.empty()) return any_kept;
  edits.insert(object.end - 1, (any_kept ? "," : "") + std::string(added));
  return true;
}

/// The slice to erase in order to remove the member with this value: its name and one comma, too.
/// REQUIRES: its name contains no quote.
Slice member_around(std::string_view text, Slice value);

/// The slice of all of `text`, without surrounding white space.
Slice whole_value(std::string_view text);

/// The frame with these edits applied to its bytes, and the new positions of its members: an erased
/// one is absent, and an added one is not recorded. So the frame need not be parsed again.
/// REQUIRES: the edits replace whole members or values, and do not turn another member into one
/// that a frame records. Pure.
Frame edited(Frame frame, const Edits& edits);

}  // namespace bridge
