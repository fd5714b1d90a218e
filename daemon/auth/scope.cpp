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

std::string scope_of(const std::vector<std::string>& scopes) {
  std::string text;
  for (const std::string& scope : scopes) text += (text.empty() ? "" : " ") + scope;
  return text;
}

}  // namespace bridge
