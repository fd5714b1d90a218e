#include "upstream/lost_session_text.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "text/characters.hpp"

namespace bridge {
namespace {

constexpr std::size_t longest_look = 4096;

/// The words of the text in lower case. A word also begins at a capital after a small letter, so
/// that names such as `sessionNotFound` are words.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  char before = ' ';
  for (const char c : text) {
    if (is_letter(c)) {
      const bool begins =
          !is_letter(before) || (c == ascii_lower(c)) < (before == ascii_lower(before));
      if (begins) words.emplace_back();
      words.back().push_back(ascii_lower(c));
    }
    before = c;
  }
  return words;
}

/// What servers say of a session that they do not know.
constexpr std::string_view missing[] = {
    "no",       "not",    "unknown",  "invalid",    "missing", "expired", "terminated", "closed",
    "required", "cannot", "inactive", "terminates", "gone",    "lost",    "deleted",    "stale"};

bool is_missing(std::string_view word) {
  return std::find(std::begin(missing), std::end(missing), word) != std::end(missing);
}

bool is_initialized(std::string_view word) {
  return word == "initialized" || word == "initialised";
}

}  // namespace

bool says_session_is_missing(std::string_view text) {
  const std::vector<std::string> words = words_of(text.substr(0, longest_look));
  bool names_session = false;
  bool names_absence = false;
  std::string_view before;
  for (const std::string& word : words) {
    names_session = names_session || word.rfind("session", 0) == 0;
    names_absence = names_absence || is_missing(word);
    if (word == "uninitialized" || (before == "not" && is_initialized(word)) ||
        (before == "initialize" && word == "first") ||
        (before == "before" && (word == "initialization" || word == "initialize")))
      return true;
    before = word;
  }
  return names_session && names_absence;
}

}  // namespace bridge
