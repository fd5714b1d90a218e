#pragma once

#include <string>

namespace bridge {

/// Gives back the room behind a text that may stay for long: what grew while it was read
/// (ArrivingText has addresses for a whole --max-frame) is not kept with it. Little room stays,
/// since to give it back is to copy the text.
inline void drop_spare_room(std::string& text) {
  if (text.capacity() > text.size() + text.size() / 8 + 32) text.shrink_to_fit();
}

}  // namespace bridge
