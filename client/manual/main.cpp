// Fills a template of mcp-nc's documents: mcp-nc-documents TEMPLATE RESULT

#include <cstdio>
#include <string>

#include "command_line/manual.hpp"
#include "command_line/verb_manual.hpp"
#include "manual/completions.hpp"
#include "manual/man_page.hpp"
#include "manual/template.hpp"

namespace {

using client::ManualEntry;
using documents::DocumentedOption;

/// `-s, --socket PATH`, taken apart.
DocumentedOption option_of(const ManualEntry& entry, const std::string& group) {
  DocumentedOption option;
  option.group = group;
  option.text = entry.text;
  std::string form(entry.form);
  while (form.starts_with('-')) {
    const std::size_t end = std::min(form.find_first_of(", "), form.size());
    option.names.push_back(form.substr(0, end));
    form = end == form.size() ? "" : form.substr(form.find_first_not_of(", ", end));
  }
  option.value = form;
  return option;
}

std::string entries(std::span<const ManualEntry> all) {
  std::string page;
  for (const ManualEntry& entry : all) page += documents::groff_entry(entry.form, entry.text);
  return page;
}

/// `call NAME` → `call`.
std::string name_of(const ManualEntry& command) {
  return std::string(command.form.substr(0, command.form.find(' ')));
}

/// What the verb's own --help says beside its line.
std::string more_about(const std::string& verb) {
  const client::VerbManual* const manual = client::manual_of(verb);
  if (manual == nullptr) return {};
  std::string page = ".RS\n";
  if (!manual->text.empty()) page += ".PP\n" + documents::groff_text(manual->text) + "\n";
  page += ".PP\n.EX\n";
  for (const std::string_view example : manual->examples)
    page += documents::groff_text(example) + "\n";
  return page + ".EE\n.RE\n";
}

std::string commands() {
  std::string page;
  for (const ManualEntry& entry : client::manual_commands()) {
    page += documents::groff_entry(entry.form, entry.text);
    if (entry.form.starts_with("call "))
      page += ".RS\n" + entries(client::manual_arguments()) + ".RE\n";
    page += more_about(name_of(entry));
  }
  return page;
}

std::string command_names() {
  std::string words;
  for (const ManualEntry& entry : client::manual_commands())
    words += (words.empty() ? "" : " ") + name_of(entry);
  return words;
}

std::string log_levels() {
  std::string words;
  for (const std::string_view level : client::log_levels())
    words += (words.empty() ? "" : " ") + std::string(level);
  return words;
}

std::string text_of(const ManualEntry& command) {
  const std::string text(command.text);
  return text.substr(0, text.find(';'));
}

std::string zsh_commands() {
  std::string lines;
  for (const ManualEntry& entry : client::manual_commands()) {
    std::string text = text_of(entry);
    for (std::size_t at = text.find('\''); at != text.npos; at = text.find('\'', at + 4))
      text.replace(at, 1, "'\\''");
    lines += "    '" + name_of(entry) + ":" + text + "'\n";
  }
  return lines;
}

std::string fish_commands() {
  std::string lines;
  for (const ManualEntry& entry : client::manual_commands()) {
    std::string text = text_of(entry);
    for (std::size_t at = text.find('\''); at != text.npos; at = text.find('\'', at + 2))
      text.replace(at, 1, "\\'");
    lines += "complete -c mcp-nc -n '__mcp_nc_needs_command' -f -a " + name_of(entry) + " -d '" +
             text + "'\n";
  }
  return lines;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: mcp-nc-documents TEMPLATE RESULT\n", stderr);
    return 2;
  }
  std::vector<DocumentedOption> options;
  for (const ManualEntry& one : client::manual_general_options())
    options.push_back(option_of(one, "For all commands"));
  std::vector<std::string> verbs;
  for (const std::string_view verb : client::verb_names()) verbs.emplace_back(verb);
  for (const ManualEntry& one : client::manual_command_options()) {
    options.push_back(option_of(one, "Of commands"));
    for (const std::string& verb : verbs) {
      if (client::goes_with(options.back().names.back(), *client::find_verb(verb)))
        options.back().commands.push_back(verb);
    }
  }
  std::string values;  // options that take one, for the search of the command among the words
  for (const DocumentedOption& option : options) {
    for (const std::string& name : option.names) {
      if (!option.value.empty()) values += (values.empty() ? "" : " ") + name;
    }
  }
  return documents::fill_template(argv[1], argv[2],
                                  {{"VERSION", MCP_BRIDGE_VERSION},
                                   {"COMMANDS", commands()},
                                   {"OPTIONS", documents::groff_options(options)},
                                   {"EXIT_CODES", entries(client::manual_exit_codes())},
                                   {"COMMAND_NAMES", command_names()},
                                   {"LOG_LEVELS", log_levels()},
                                   {"WITH_VALUE", values},
                                   {"BASH_OPTIONS", documents::bash_options(options)},
                                   {"BASH_OPTIONS_OF", documents::bash_options_of(verbs, options)},
                                   {"BASH_VALUES", documents::bash_values(options)},
                                   {"ZSH_OPTIONS", documents::zsh_options_of_command(options)},
                                   {"ZSH_COMMANDS", zsh_commands()},
                                   {"FISH_OPTIONS", documents::fish_options("mcp-nc", options)},
                                   {"FISH_COMMANDS", fish_commands()}});
}
