#pragma once

#include <string>
#include <string_view>

namespace client {

/// The text as one word of a shell's command line: quoted, unless every shell takes it as it is.
std::string shell_word(std::string_view text);

}  // namespace client
