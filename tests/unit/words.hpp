#pragma once

#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

/// The words of a text, then `more`, which may have blanks in them.
inline std::vector<std::string> words(const std::string& text,
                                      const std::vector<std::string>& more = {}) {
  std::istringstream stream(text);
  std::vector<std::string> all{std::istream_iterator<std::string>(stream), {}};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

namespace bridge {

/// Whether the text has this part.
inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

}  // namespace bridge
