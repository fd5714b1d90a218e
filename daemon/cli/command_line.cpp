#include "cli/command_line.hpp"

#include "text/columns.hpp"
#include "text/similar.hpp"

namespace cli {

std::string unknown_option(std::string_view spelling, const std::vector<std::string_view>& names) {
  std::string text = "unknown option '" + std::string(spelling) + "'";
  const std::string meant =
      spelling.starts_with("--") ? bridge::most_similar(spelling.substr(2), names) : std::string();
  return meant.empty() ? text : text + "; did you mean '--" + meant + "'?";
}

void add_entry(std::string& help, std::size_t indent, std::string_view form, std::string_view text,
               std::size_t column) {
  help.append(indent, ' ').append(form);
  const std::size_t used = indent + form.size();
  if (used + 1 > column) help += '\n';
  help.append(used + 1 > column ? column : column - used, ' ');
  help.append(bridge::wrap(text, column, help_width)).append("\n");
}

void add_option(std::string& help, std::size_t indent, const Option& option, std::size_t column) {
  std::string form(option.form);
  if (!option.variable().empty()) form.append(" (").append(option.variable()).append(")");
  std::string text(option.text);
  if (!option.default_value().empty()) text.append(" [").append(option.default_value()).append("]");
  add_entry(help, indent, form, text, column);
}

}  // namespace cli
