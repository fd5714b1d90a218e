#include "cli/help.hpp"

#include "text/columns.hpp"

namespace cli {

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
