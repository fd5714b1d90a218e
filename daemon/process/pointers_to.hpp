#pragma once

#include <string>
#include <vector>

namespace bridge {

/// Arguments or an environment as execve(2) takes them: a pointer to each, a null pointer at the
/// end. They hold as long as `texts` stays as it is.
inline std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace bridge
