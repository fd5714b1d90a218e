#include "config/variables.hpp"

namespace bridge {
namespace {

bool is_name(std::string_view text) {
  constexpr std::string_view characters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  return !text.empty() && text.find_first_not_of(characters) == text.npos;
}

/// Where the `}` is that closes the `${` before `at`; npos if there is none.
std::size_t closing_brace(std::string_view text, std::size_t at) {
  int depth = 1;
  for (; at < text.size(); ++at) {
    if (text.substr(at, 2) == "${") {
      ++depth;
    } else if (text[at] == '}' && --depth == 0) {
      return at;
    }
  }
  return text.npos;
}

}  // namespace

Variable parse_variable(std::string_view text) {
  constexpr std::string_view input = "input:";
  constexpr std::string_view environment = "env:";
  if (text.starts_with(input) && text.size() > input.size()) {
    return {Variable::Kind::input, std::string(text.substr(input.size()))};
  }
  std::string_view name = text;
  if (name.starts_with(environment)) name.remove_prefix(environment.size());
  Variable variable{Variable::Kind::environment, {}};
  if (const auto at = name.find(":-"); at != name.npos) {
    variable.otherwise = std::string(name.substr(at + 2));
    name = name.substr(0, at);
  }
  if (!is_name(name)) return {Variable::Kind::unknown, std::string(text)};
  variable.name = std::string(name);
  return variable;
}

std::string expand_variables(
    std::string_view text,
    const std::function<std::optional<std::string>(const Variable&)>& value_of) {
  std::string out;
  for (;;) {
    const auto begin = text.find("${");
    const auto end = begin == text.npos ? text.npos : closing_brace(text, begin + 2);
    if (end == text.npos) return out.append(text);
    out.append(text.substr(0, begin));
    const Variable variable = parse_variable(text.substr(begin + 2, end - begin - 2));
    if (const auto value = value_of(variable)) {
      out.append(*value);
    } else if (variable.otherwise) {
      out.append(expand_variables(*variable.otherwise, value_of));
    }
    text.remove_prefix(end + 1);
  }
}

}  // namespace bridge
