#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>
#include <type_traits>

namespace bridge {

/// What has elements; a text has parts instead.
template <class Range>
concept HasElements = !std::is_convertible_v<const Range&, std::string_view>;

/// Whether one of the elements equals the value.
template <HasElements Range, class Value>
bool contains(const Range& range, const Value& value) {
  return std::find(std::begin(range), std::end(range), value) != std::end(range);
}

/// Whether `word` is one of `words`, which are separated by single spaces. A single text needs one
/// relocation at the program's start, however many words it has.
constexpr bool has_word(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const std::string_view first = words.substr(0, words.find(' '));
    if (first == word) return true;
    words.remove_prefix(std::min(words.size(), first.size() + 1));
  }
  return false;
}

}  // namespace bridge
