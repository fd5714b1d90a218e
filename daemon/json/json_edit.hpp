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

// Changes of a few members in JSON text that a JsonScanner has accepted; all other bytes stay as
// they are. Pure.

/// Replacements in one text. They must not overlap, and are made in the order of their places.
/// Pure.
class Edits {
 public:
  void replace(Slice at, std::string with);
  void insert(std::size_t at, std::string with) { replace({at, at}, std::move(with)); }
  void erase(Slice at) {
    if (at.present()) replace(at, {});
  }
  bool empty() const { return edits_.empty(); }

  /// `text` with all of them made: one pass.
  std::string made_in(std::string_view text) const;
  /// The same, in place where there is room and only a few are to be made: what stands before the
  /// first of them is not touched then, however large it is.
  void make_in(std::string& text) const;
  /// Where this value stands in the text that was made; nowhere if it was erased. REQUIRES: no edit
  /// takes a part of it only.
  Slice moved(Slice value) const;

 private:
  struct Edit {
    Slice at;
    std::string with;
  };
  /// Each moves what stands behind it.
  static constexpr std::size_t most_in_place = 4;

  std::vector<const Edit*> in_order() const;
  std::size_t size_in(std::string_view text) const;

  std::vector<Edit> edits_;
};

/// What has to be erased to take elements out of an object or an array, with the commas between.
/// Each element is told in its order. Pure.
class Removal {
 public:
  Removal(Edits& edits, std::size_t offset) : edits_(edits), offset_(offset) {}

  void element(Slice whole, bool drop);
  /// REQUIRES: after the last one. Whether any element is left.
  bool finish();

 private:
  void erase(std::size_t begin, std::size_t end) { edits_.erase({begin + offset_, end + offset_}); }

  Edits& edits_;
  std::size_t offset_;
  bool any_kept_ = false;
  std::size_t kept_end_ = 0;
  Slice dropped_;  ///< from the first to the last of those dropped since one was kept
};

/// Walks an object that stands at `object` in `text`: `on_member(key, whole, value)` with the raw
/// key (between its quotes), and the slices of key and value, and of the value, in `text`.
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

/// Adds `members` (`"a":1,"b":2`, not empty) at the end of the object at `object`. Looks at white
/// space only, however large the object.
void add_members(Edits& edits, std::string_view text, Slice object, std::string_view members);

/// The same, after the members were dropped whose raw key `drop` says so of. Whether the object has
/// members then.
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

/// The member with this value, with its name and one comma: what is erased to take it out.
/// REQUIRES: its name has no quote in it.
Slice member_around(std::string_view text, Slice value);

/// The whole of `text`, without white space around.
Slice whole_value(std::string_view text);

/// The frame with these edits made in its bytes, and where its members stand then: one that was
/// erased is absent, and of what was added nothing is noted. So it need not be read anew.
/// REQUIRES: the edits replace whole members or values, and make no member that a frame notes out
/// of another. Pure.
Frame edited(Frame frame, const Edits& edits);

// Changes of the members of a request's or notification's `params._meta`. Pure.

/// Whether its params are an object, null or absent: only then can it have a `_meta`.
bool has_place_for_meta(const Frame& frame);

/// Adds `members` (`"a":1,"b":2`, not empty) to the message's `_meta`, which is made if there is
/// none; one that is no object is replaced. Does nothing if there is no place for it.
void add_meta_members(Edits& edits, const Frame& frame, const std::string& members);

/// What has to be erased for without_meta_members().
template <class Drop>
Edits meta_removal(const Frame& frame, Drop&& drop) {
  Edits edits;
  if (frame.text(frame.meta).starts_with('{') &&
      !edit_members(edits, frame.bytes, frame.meta, drop)) {
    edits = {};
    edits.erase(member_around(frame.bytes, frame.meta));
  }
  return edits;
}

/// The message without the members of `_meta` whose raw key `drop` says so of; a `_meta` with
/// nothing left in it goes.
template <class Drop>
std::string without_meta_members(const Frame& frame, Drop&& drop) {
  return meta_removal(frame, drop).made_in(frame.bytes);
}

}  // namespace bridge
