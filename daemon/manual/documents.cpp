#include "documents.hpp"

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
