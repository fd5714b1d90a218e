// Fills a template of mcp-bridged's documents: mcp-bridged-documents TEMPLATE RESULT

#include <cstdio>

#include "documents.hpp"
#include "options/option_groups.hpp"
#include "options/option_table.hpp"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: mcp-bridged-documents TEMPLATE RESULT\n", stderr);
    return 2;
  }
  bridge::Options values;
  bridge::RawOptions raw;
  bridge::OptionTable table;
  bridge::name_options(table, values, raw);
  std::vector<documents::DocumentedOption> options;
  for (const cli::Option& one : table.rows()) options.push_back({one});
  const std::string described = documents::groff_options(options);
  // Names without completion.
  std::erase_if(options, [](const auto& one) { return one.name().empty(); });
  return documents::fill_template(
      argv[1], argv[2],
      {{"VERSION", MCP_BRIDGE_VERSION},
       {"OPTIONS", described},
       {"BASH_OPTIONS", documents::bash_options(options)},
       {"BASH_VALUES", documents::bash_values(options)},
       {"ZSH_OPTIONS", documents::zsh_options(options)},
       {"FISH_OPTIONS", documents::fish_options("mcp-bridged", options)}});
}
