// Fills a template of mcp-nc's documents: mcp-nc-documents TEMPLATE RESULT

#include <cstdio>

#include "command_line/verb.hpp"
#include "manual/documents.hpp"
#include "verbs/operands.hpp"

namespace {

using client::Verb;
using documents::DocumentedOption;

std::string entries(std::span<const client::HelpEntry> all) {
  std::string page;
  for (const client::HelpEntry& entry : all) page += documents::groff_entry(entry.form, entry.text);
  return page;
}

/// The verb's own help, as groff.
std::string page_of(const Verb& verb) {
  const std::string summary(verb.summary());
  std::string page = documents::groff_entry(
      verb.form, verb.words.empty() ? summary : summary + "; an argument is");
  if (!verb.words.empty()) page += ".RS\n" + entries(verb.words) + ".RE\n";
  page += ".RS\n";
  if (!verb.more().empty()) page += ".PP\n" + documents::groff_text(verb.more()) + "\n";
  page += ".PP\n.EX\n";
  for (const std::string_view example : verb.example_lines())
    page += documents::groff_text(example) + "\n";
  return page + ".EE\n.RE\n";
}

template <typename Words>
std::string joined(const Words& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : " ") + std::string(word);
  return text;
}

/// The first part of the summary, with each ' replaced by `quote`.
std::string quoted_summary(const Verb& verb, const std::string& quote) {
  std::string text(verb.summary().substr(0, verb.summary().find(';')));
  for (std::size_t at = text.find('\''); at != text.npos; at = text.find('\'', at + quote.size()))
    text.replace(at, 1, quote);
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: mcp-nc-documents TEMPLATE RESULT\n", stderr);
    return 2;
  }
  std::vector<std::string> names;
  std::string pages;
  std::string zsh;
  std::string fish;
  for (const Verb& verb : client::verbs()) {
    const std::string& name = names.emplace_back(verb.name());
    pages += page_of(verb);
    zsh += "    '" + name + ":" + quoted_summary(verb, "'\\''") + "'\n";
    fish += "complete -c mcp-nc -n '__mcp_nc_needs_command' -f -a " + name + " -d '" +
            quoted_summary(verb, "\\'") + "'\n";
  }
  std::vector<DocumentedOption> options;
  std::vector<std::string> with_value;  // to find the command among the words
  for (const client::Option& one : client::all_options()) {
    DocumentedOption& option = options.emplace_back(DocumentedOption{one});
    for (const Verb& verb : client::verbs()) {
      if (client::goes_with(one, verb)) option.commands.emplace_back(verb.name());
    }
    if (!one.takes_value()) continue;
    for (const std::string_view name : one.names()) with_value.emplace_back(name);
  }
  return documents::fill_template(argv[1], argv[2],
                                  {{"VERSION", MCP_BRIDGE_VERSION},
                                   {"COMMANDS", pages},
                                   {"OPTIONS", documents::groff_options(options)},
                                   {"EXIT_CODES", entries(client::exit_codes())},
                                   {"COMMAND_NAMES", joined(names)},
                                   {"LOG_LEVELS", joined(client::log_levels())},
                                   {"WITH_VALUE", joined(with_value)},
                                   {"BASH_OPTIONS", documents::bash_options(options)},
                                   {"BASH_OPTIONS_OF", documents::bash_options_of(names, options)},
                                   {"BASH_VALUES", documents::bash_values(options)},
                                   {"ZSH_OPTIONS", documents::zsh_options_of_command(options)},
                                   {"ZSH_COMMANDS", zsh},
                                   {"FISH_OPTIONS", documents::fish_options("mcp-nc", options)},
                                   {"FISH_COMMANDS", fish}});
}
