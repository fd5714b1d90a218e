#include "servers/file_form.hpp"

#include <fmt/format.h>

#include "text/characters.hpp"

namespace bridge {
namespace {

/// `$NAME` as `${NAME:-$NAME}`: Gemini leaves the text of a variable that is not set.
std::string with_braces(std::string_view text) {
  const auto is_in_name = [](char c) { return is_letter(c) || is_digit(c) || c == '_'; };
  std::string all;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    while (text[at] == '$' && end < text.size() && is_in_name(text[end])) ++end;
    const std::string_view name = text.substr(at + 1, end - at - 1);
    if (name.empty() || is_digit(name.front())) {
      all += text.substr(at, end - at);
    } else {
      all += fmt::format("${{{0}:-${0}}}", name);
    }
    at = end;
  }
  return all;
}

bool is_of_gemini(std::string_view path) {
  constexpr std::string_view folder = ".gemini/";
  const std::size_t at = path.rfind(folder);
  return at != path.npos && (at == 0 || path[at - 1] == '/');
}

}  // namespace

FileAsJson file_as_json(std::string_view text, std::string_view path, ReadToml read_toml) {
  if (path.ends_with(".toml")) return read_toml(text);
  return {is_of_gemini(path) ? with_braces(text) : std::string(text)};
}

}  // namespace bridge
