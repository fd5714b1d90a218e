#pragma once

#include <cstddef>
#include <vector>

#include "text/slice.hpp"

namespace bridge {

/// What is known of a text that JsonProgress has read: it is UTF-8, and JSON. A value.
struct CheckedJson {
  /// Where the large values stand that are members of the outermost object, or of an object that is
  /// its member; in the order in which they begin. One may lie in another.
  std::vector<Slice> values;
  /// Whether a line feed or a carriage return stands in it: between two tokens, then.
  bool has_line_breaks = false;

  /// The one that begins there; null if none does.
  const Slice* value_at(std::size_t position) const;
};

}  // namespace bridge
