#include "auth/scope.hpp"

#include <algorithm>
#include <sstream>

namespace bridge {

std::string joined_scopes(const std::string& first, const std::string& second) {
  std::vector<std::string> scopes;
  for (const std::string* part : {&first, &second}) {
    std::istringstream words(*part);
    for (std::string word; words >> word;) {
      if (std::find(scopes.begin(), scopes.end(), word) == scopes.end()) scopes.push_back(word);
    }
  }
  return scope_of(scopes);
}

bool has_scope(const std::string& scopes, std::string_view one) {
  for (std::size_t begin = 0; begin < scopes.size();) {
    const auto end = std::min(scopes.find(' ', begin), scopes.size());
    if (std::string_view(scopes).substr(begin, end - begin) == one) return true;
    begin = end + 1;
  }
  return false;
}

std::string scope_of(const std::vector<std::string>& scopes) {
  std::string text;
  for (const std::string& scope : scopes) text += (text.empty() ? "" : " ") + scope;
  return text;
}

}  // namespace bridge
