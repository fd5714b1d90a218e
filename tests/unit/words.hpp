#pragma once

#include <iterator>
#include <sstream>
#include <string>
#include <vector>

/// The words of a text, then `more`, which may have blanks in them.
inline std::vector<std::string> words(const std::string& text,
                                      const std::vector<std::string>& more = {}) {
  std::istringstream stream(text);
  std::vector<std::string> all{std::istream_iterator<std::string>(stream), {}};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}
