#pragma once

#include <string>
#include <string_view>

namespace bridge {

/// The text as one word of a shell's command line: quoted, unless it is plain in every shell. Pure.
std::string shell_word(std::string_view text);

}  // namespace bridge
