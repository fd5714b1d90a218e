#include "text/shell_word.hpp"

#include <algorithm>
#include <utility>

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

std::optional<std::vector<std::string>> shell_words(std::string_view line) {
  std::vector<std::string> words;
  std::optional<std::string> word;
  char quote = '\0';
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    const bool may_escape = c == '\\' && quote != '\'' && at + 1 < line.size();
    if (may_escape && (quote == '\0' || line[at + 1] == '"' || line[at + 1] == '\\')) {
      if (!word) word.emplace();
      *word += line[++at];
    } else if (quote != '\0') {
      if (c == quote) {
        quote = '\0';
      } else {
        *word += c;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
      if (!word) word.emplace();
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (word) words.push_back(*std::exchange(word, std::nullopt));
    } else {
      if (!word) word.emplace();
      *word += c;
    }
  }
  if (quote != '\0') return std::nullopt;
  if (word) words.push_back(std::move(*word));
  return words;
}

}  // namespace bridge
