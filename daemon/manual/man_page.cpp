#include "man_page.hpp"

#include <fmt/format.h>

namespace documents {

std::string groff_text(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool begins_line = at == 0 || text[at - 1] == '\n';
    if (begins_line && (c == '.' || c == '\'')) out += "\\&";
    switch (c) {
      case '\\': out += "\\e"; break;
      case '-': out += "\\-"; break;
      case '\'': out += "\\(aq"; break;
      case '^': out += "\\(ha"; break;
      case '~': out += "\\(ti"; break;
      case '`': out += "\\(ga"; break;
      default: out += c;
    }
  }
  return out;
}

std::string groff_entry(std::string_view form, std::string_view text) {
  return fmt::format(".TP\n.B {}\n{}\n", groff_text(form), groff_text(text));
}

std::string groff_options(const std::vector<DocumentedOption>& options) {
  std::string page;
  std::string_view group;
  for (const DocumentedOption& option : options) {
    if (option.group() != group) page += fmt::format(".SS {}\n", groff_text(option.group()));
    group = option.group();
    std::string names;
    for (const std::string_view name : option.names()) {
      names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", groff_text(name));
    }
    const std::string value =
        option.value().empty() ? "" : fmt::format(" \\fI{}\\fR", groff_text(option.value()));
    page += fmt::format(".TP\n{}{}\n{}", names, value, groff_text(option.text));
    page += option.text.ends_with('.') ? "" : ".";
    if (!option.default_value().empty())
      page += fmt::format(" Default: {}.", groff_text(option.default_value()));
    if (!option.variable().empty()) page += fmt::format("\n.B {}\n", groff_text(option.variable()));
    if (option.variable().empty()) page += '\n';
  }
  return page;
}

}  // namespace documents
