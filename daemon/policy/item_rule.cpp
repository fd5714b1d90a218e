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

ItemRule::Glob ItemRule::Glob::of(std::string_view text) {
  Glob glob;
  glob.takes_away = text.starts_with('!');
  if (glob.takes_away) text.remove_prefix(1);
  const auto first = text.find_first_of("*?");
  const bool is_one_star =
      first != text.npos && text[first] == '*' && text.find_first_of("*?", first + 1) == text.npos;
  if (first == text.npos) {
    glob.form = Form::plain;
  } else if (is_one_star && first + 1 == text.size()) {
    glob.form = Form::prefix;
    text.remove_suffix(1);
  } else if (is_one_star && first == 0 && !continues_character(text[1])) {
    glob.form = Form::suffix;
    text.remove_prefix(1);
  }
  glob.pattern = text;
  return glob;
}

bool ItemRule::Glob::matches(std::string_view name) const {
  switch (form) {
    case Form::plain: return name == pattern;
    case Form::prefix: return name.starts_with(pattern);
    case Form::suffix: return name.ends_with(pattern);
    case Form::any: break;
  }
  return matches_glob(pattern, name);
}

ItemRule ItemRule::of_globs(const std::vector<std::string>& globs) {
  ItemRule rule;
  rule.kind_ = Kind::globs;
  for (auto at = globs.rbegin(); at != globs.rend(); ++at) {
    rule.globs_.push_back(Glob::of(*at));
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
  rule.wants_read_only_ = true;
  return rule;
}

bool ItemRule::allows_some() const {
  return (kind_ != Kind::globs || !globs_.empty()) &&
         std::all_of(narrowed_by_.begin(), narrowed_by_.end(),
                     [](const ItemRule& one) { return one.allows_some(); });
}

void ItemRule::narrow(const ItemRule& other) {
  if (other.allows_all()) return;
  if (allows_all()) {
    *this = other;
    return;
  }
  wants_read_only_ = wants_read_only_ || other.wants_read_only_;
  narrowed_by_.push_back(other);
  narrowed_by_.back().narrowed_by_.clear();
  narrowed_by_.insert(narrowed_by_.end(), other.narrowed_by_.begin(), other.narrowed_by_.end());
}

bool ItemRule::allows(std::string_view name, bool reads_only) const {
  return allows_alone(name, reads_only) &&
         std::all_of(narrowed_by_.begin(), narrowed_by_.end(),
                     [&](const ItemRule& one) { return one.allows_alone(name, reads_only); });
}

bool ItemRule::allows_alone(std::string_view name, bool reads_only) const {
  if (kind_ != Kind::globs) return kind_ == Kind::all || reads_only;
  const bool is_long = name.size() > longest_searched;
  const auto found = std::find_if(globs_.begin(), globs_.end(), [&](const Glob& glob) {
    return (is_long && glob.form == Glob::Form::any) || glob.matches(name);
  });
  return found != globs_.end() && !found->takes_away &&
         !(is_long && found->form == Glob::Form::any);
}

}  // namespace bridge
