#include "template.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iterator>

namespace documents {
namespace {

bool is_name(const std::string& text) {
  return !text.empty() && text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == text.npos;
}

}  // namespace

int fill_template(const std::string& from, const std::string& to,
                  const std::map<std::string, std::string>& values) {
  std::ifstream file(from, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::string out;
  std::size_t at = 0;
  for (;;) {
    const std::size_t begin = text.find('@', at);
    const std::size_t end = begin == text.npos ? text.npos : text.find('@', begin + 1);
    if (end == text.npos) break;
    const std::string name = text.substr(begin + 1, end - begin - 1);
    if (!is_name(name)) {
      out += text.substr(at, end - at);
      at = end;
      continue;
    }
    const auto value = values.find(name);
    if (value == values.end()) {
      fmt::print(stderr, "{}: there is no value for @{}@\n", from, name);
      return 1;
    }
    out += text.substr(at, begin - at) + value->second;
    at = end + 1;
  }
  out += text.substr(at);
  std::ofstream result(to, std::ios::binary);
  result << out;
  result.close();
  if (!text.empty() && result) return 0;
  fmt::print(stderr, "cannot make {} from {}\n", to, from);
  return 1;
}

}  // namespace documents
