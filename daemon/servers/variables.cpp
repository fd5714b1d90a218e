#include "servers/variables.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <utility>
#include <vector>

namespace bridge {

std::string variable_of_input(const std::string& id) {
  std::string name = "MCP_INPUT_";
  for (const char c : id) {
    const auto byte = static_cast<unsigned char>(c);
    name += byte < 0x80 && std::isalnum(byte) != 0 ? static_cast<char>(std::toupper(byte)) : '_';
  }
  return name;
}

std::optional<std::string> find_input(const std::string& id, const InputSources& sources) {
  for (const auto* source : {&sources.given, &sources.file}) {
    if (const auto found = source->find(id); found != source->end()) return found->second;
  }
  const char* const variable = std::getenv(variable_of_input(id).c_str());
  if (variable != nullptr && *variable != '\0') return variable;
  if (const auto found = sources.answers.find(id); found != sources.answers.end())
    return found->second;
  return std::nullopt;
}

namespace {

constexpr std::string_view name_characters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
constexpr std::string_view input_prefix = "input:";
constexpr std::string_view environment_prefix = "env:";

bool is_name(std::string_view text) {
  return !text.empty() && text.find_first_not_of(name_characters) == text.npos;
}

/// The variable that an unclosed `${` begins; nullopt if it is ordinary text.
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

/// The position of a `${`.
struct Opening {
  std::size_t begin;
  std::size_t end;  ///< of the closing `}`; npos if there is none
};

/// Finds all openings in `text`, in order, in a single pass; nullopt if they are nested deeper than
/// max_variable_depth.
std::optional<std::vector<Opening>> find_openings(std::string_view text) {
  struct Unclosed {
    std::size_t opening;
    std::size_t depth = 0;  ///< of the closed ones within it
  };
  std::vector<Opening> all;
  std::vector<Unclosed> unclosed;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '$' && at + 1 < text.size() && text[at + 1] == '{') {
      unclosed.push_back({all.size()});
      all.push_back({at, text.npos});
    } else if (text[at] == '}' && !unclosed.empty()) {
      const Unclosed closed = unclosed.back();
      unclosed.pop_back();
      all[closed.opening].end = at;
      if (closed.depth == max_variable_depth) return std::nullopt;
      if (!unclosed.empty())
        unclosed.back().depth = std::max(unclosed.back().depth, closed.depth + 1);
    }
  }
  return all;
}

class Expander {
 public:
  using ValueOf = std::function<std::optional<std::string>(const Variable&)>;

  Expander(std::string_view text, const std::vector<Opening>& openings, const ValueOf& value_of,
           std::size_t most)
      : text_(text), openings_(openings), value_of_(value_of), most_(most) {}

  /// Expands from `at` up to `end`. Recursive for a default, at most max_variable_depth deep.
  void expand(std::size_t at, std::size_t end) {
    while (next_ < openings_.size() && openings_[next_].begin < end && !is_too_long()) {
      const Opening opening = openings_[next_++];
      if (opening.begin < at) continue;  // within an expanded one
      const std::size_t inside = opening.begin + 2;
      if (opening.end == text_.npos) {
        if (const auto variable = unclosed_variable(text_.substr(inside))) value_of_(*variable);
        append(at, inside);
        at = inside;
        continue;
      }
      append(at, opening.begin);
      const Variable variable = parse_variable(text_.substr(inside, opening.end - inside));
      if (const auto value = value_of_(variable)) {
        result_.append(*value);
      } else if (variable.otherwise) {
        expand(opening.end - variable.otherwise->size(), opening.end);
      }
      at = opening.end + 1;
    }
    append(at, end);
  }

  bool is_too_long() const { return result_.size() > most_; }
  std::string take() { return std::move(result_); }

 private:
  void append(std::size_t begin, std::size_t end) {
    result_.append(text_.substr(begin, end - begin));
  }

  std::string_view text_;
  const std::vector<Opening>& openings_;
  const ValueOf& value_of_;
  std::size_t most_;
  std::size_t next_ = 0;  ///< of the openings
  std::string result_;
};

}  // namespace

Variable parse_variable(std::string_view text) {
  if (text.starts_with(input_prefix) && text.size() > input_prefix.size()) {
    return {Variable::Kind::input, std::string(text.substr(input_prefix.size()))};
  }
  std::string_view name = text;
  if (name.starts_with(environment_prefix)) name.remove_prefix(environment_prefix.size());
  Variable variable{Variable::Kind::environment, {}};
  if (const auto at = name.find(":-"); at != name.npos) {
    variable.otherwise = name.substr(at + 2);
    name = name.substr(0, at);
  }
  if (!is_name(name)) return {Variable::Kind::unknown, std::string(text)};
  variable.name = std::string(name);
  return variable;
}

Expansion expand_variables(
    std::string_view text,
    const std::function<std::optional<std::string>(const Variable&)>& value_of, std::size_t most) {
  const auto openings = find_openings(text);
  if (!openings) return {{}, Expansion::Fault::too_deep};
  Expander expander(text, *openings, value_of, most);
  expander.expand(0, text.size());
  if (expander.is_too_long()) return {{}, Expansion::Fault::too_long};
  return {expander.take()};
}

}  // namespace bridge
