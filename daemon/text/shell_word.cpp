#include "text/shell_word.hpp"

#include <algorithm>

#include "text/characters.hpp"

namespace bridge {

std::string shell_word(std::string_view text) {
  // zsh replaces a word with a leading = by a program's path.
  const bool is_plain =
      !text.empty() && text.front() != '=' && std::all_of(text.begin(), text.end(), [](char c) {
        return is_plain_in_names(c) ||
               std::string_view("/:,+@%=").find(c) != std::string_view::npos;
      });
  if (is_plain) return std::string(text);
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace bridge
