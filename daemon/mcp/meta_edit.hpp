#pragma once

#include <string>
#include <string_view>

#include "jsonrpc/frame.hpp"
#include "mcp/json_edit.hpp"

namespace bridge {

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
