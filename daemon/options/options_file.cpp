#include "options/options_file.hpp"

#include <fmt/format.h>

#include <sstream>
#include <utility>

#include "base/log.hpp"
#include "base/secret_file.hpp"
#include "base/start_error.hpp"

namespace bridge {
namespace {

constexpr std::size_t max_file = 1u << 20;

std::string trim(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

}  // namespace

std::string read_small_file(const std::string& path, const std::string& what) {
  FileContent file = read_regular_file(path, max_file);
  if (!file.fault.empty()) {
    throw StartError(exit_code::configuration,
                     fmt::format("{}: cannot read {}: {}", what, printable(path), file.fault));
  }
  std::string content = std::move(file.bytes);
  while (!content.empty() && (content.back() == '\n' || content.back() == '\r')) content.pop_back();
  return content;
}

std::map<std::string, std::vector<std::string>> read_options_file(const std::string& path) {
  std::map<std::string, std::vector<std::string>> lines;
  std::istringstream content(read_small_file(path, "--options-file"));
  for (std::string line; std::getline(content, line);) {
    line = trim(line);
    if (line.empty() || line.front() == '#') continue;
    const auto end = line.find_first_of("= \t");
    std::string name = line.substr(0, end);
    std::string value = end == line.npos ? std::string() : trim(line.substr(end));
    if (!value.empty() && value.front() == '=') value = trim(value.substr(1));
    name.erase(
        0, name.find_first_not_of('-') == name.npos ? name.size() : name.find_first_not_of('-'));
    lines[name].push_back(value);
  }
  return lines;
}

}  // namespace bridge
