#include "config/variables.hpp"

#include <algorithm>

namespace bridge {
namespace {

constexpr std::string_view name_characters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
constexpr std::string_view input_prefix = "input:";
constexpr std::string_view environment_prefix = "env:";

bool is_name(std::string_view text) {
  return !text.empty() && text.find_first_not_of(name_characters) == text.npos;
}

/// What stands behind a `${` that is not closed; nothing if it is text.
std::optional<Variable> unclosed_variable(std::string_view text) {
  for (const std::string_view prefix : {input_prefix, environment_prefix}) {
    if (!text.starts_with(prefix)) continue;
    const std::string_view rest = text.substr(prefix.size());
    const auto is_in_id = [](char c) {
      return name_characters.find(c) != std::string_view::npos || c == '-' || c == '.';
    };
    const auto end = std::find_if_not(rest.begin(), rest.end(), is_in_id);
    const auto length = static_cast<std::size_t>(end - rest.begin());
    return Variable{Variable::Kind::unclosed, std::string(text.substr(0, prefix.size() + length))};
  }
  return std::nullopt;
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
  if (text.starts_with(input_prefix) && text.size() > input_prefix.size()) {
    return {Variable::Kind::input, std::string(text.substr(input_prefix.size()))};
  }
  std::string_view name = text;
  if (name.starts_with(environment_prefix)) name.remove_prefix(environment_prefix.size());
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
    if (begin == text.npos) return out.append(text);
    const auto end = closing_brace(text, begin + 2);
    if (end == text.npos) {
      if (const auto variable = unclosed_variable(text.substr(begin + 2))) value_of(*variable);
      out.append(text.substr(0, begin + 2));
      text.remove_prefix(begin + 2);
      continue;
    }
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
