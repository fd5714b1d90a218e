#include "policy/item_rule.hpp"

#include <algorithm>

#include "text/characters.hpp"

namespace bridge {
namespace {

/// Where the character ends that begins at `at`.
std::size_t after_character(std::string_view text, std::size_t at) {
  ++at;
  while (at < text.size() && continues_character(text[at])) ++at;
  return at;
}

}  // namespace

bool matches_glob(std::string_view pattern, std::string_view text) {
  std::size_t in_pattern = 0;
  std::size_t in_text = 0;
  std::size_t after_star = pattern.npos;  // where to try again, one byte of the text later
  std::size_t star_ends = 0;
  while (in_text < text.size()) {
    const char wanted = in_pattern < pattern.size() ? pattern[in_pattern] : '\0';
    if (in_pattern < pattern.size() && wanted == '*') {
      after_star = ++in_pattern;
      star_ends = in_text;
    } else if (in_pattern < pattern.size() && wanted == '?') {
      ++in_pattern;
      in_text = after_character(text, in_text);
    } else if (in_pattern < pattern.size() && wanted == text[in_text]) {
      ++in_pattern;
      ++in_text;
    } else if (after_star != pattern.npos) {
      in_pattern = after_star;
      in_text = star_ends = after_character(text, star_ends);
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', in_pattern) == pattern.npos;
}

ItemRule ItemRule::of_globs(const std::vector<std::string>& globs) {
  ItemRule rule;
  rule.kind_ = Kind::globs;
  for (auto at = globs.rbegin(); at != globs.rend(); ++at) {
    const bool takes_away = at->starts_with('!');
    Glob glob;
    glob.pattern = at->substr(takes_away ? 1 : 0);
    glob.takes_away = takes_away;
    glob.is_plain = glob.pattern.find_first_of("*?") == glob.pattern.npos;
    rule.globs_.push_back(std::move(glob));
  }
  // Globs that only take away allow nothing.
  if (std::all_of(rule.globs_.begin(), rule.globs_.end(),
                  [](const Glob& glob) { return glob.takes_away; }))
    rule.globs_.clear();
  return rule;
}

ItemRule ItemRule::read_only() {
  ItemRule rule;
  rule.kind_ = Kind::read_only;
  return rule;
}

bool ItemRule::allows(std::string_view name, bool reads_only) const {
  if (kind_ != Kind::globs) return kind_ == Kind::all || reads_only;
  const auto found = std::find_if(globs_.begin(), globs_.end(), [name](const Glob& glob) {
    return glob.is_plain ? glob.pattern == name : matches_glob(glob.pattern, name);
  });
  return found != globs_.end() && !found->takes_away;
}

}  // namespace bridge
