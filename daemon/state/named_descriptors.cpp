#include "state/named_descriptors.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <set>
#include <string_view>

namespace bridge {

std::vector<int> named_descriptors(const std::vector<std::string>& arguments) {
  constexpr std::string_view folder = "/proc/self/fd/";
  std::set<int> named;
  for (const std::string& argument : arguments) {
    const std::size_t at = argument.rfind(folder);
    if (at == std::string::npos) continue;
    int number = -1;
    const char* const end = argument.data() + argument.size();
    const auto [rest, error] = std::from_chars(argument.data() + at + folder.size(), end, number);
    const bool is_number = error == std::errc() && rest == end && number > STDERR_FILENO;
    if (is_number && fcntl(number, F_GETFD) != -1) named.insert(number);
  }
  return {named.begin(), named.end()};
}

}  // namespace bridge
