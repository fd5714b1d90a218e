#include "servers/last_words.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "servers/whole_file.hpp"
#include "terminal/visible.hpp"

namespace client {
namespace {

constexpr std::size_t longest_read = (1 << 20) + (64 << 10);
/// What cannot start says so without a time before it: there may be no log yet.
constexpr std::string_view own_name = "mcp-bridged: ";
/// But for this, which may come at any time.
constexpr std::string_view unexpected = "unexpected: ";

}  // namespace

LastWords last_words_of(std::string_view said, std::string_view file) {
  while (said.ends_with('\n')) said.remove_suffix(1);
  std::string line(said.substr(said.rfind('\n') + 1));
  LastWords words;
  if (const std::size_t at = line.find(own_name); at != line.npos) {
    line.erase(0, at + own_name.size());
    words.is_refusal = at == 0 && !line.starts_with(unexpected);
  }
  const std::string handed = fmt::format("--config /proc/self/fd/{}", definition_number);
  for (std::size_t at = 0; (at = line.find(handed, at)) != line.npos; at += file.size())
    line.replace(at, handed.size(), file);
  words.text = make_visible_line(line);
  return words;
}

LastWords last_words_in(const std::string& log, std::size_t begin, std::string_view file) {
  const FileText text = read_whole_file(log, longest_read);
  std::string_view said(text.text);
  said.remove_prefix(std::min(said.size(), begin));
  return last_words_of(said, file);
}

}  // namespace client
