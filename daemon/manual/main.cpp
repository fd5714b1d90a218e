// Fills a template of mcp-bridged's documents: mcp-bridged-documents TEMPLATE RESULT

#include <cstdio>

#include "completions.hpp"
#include "man_page.hpp"
#include "options/option_description.hpp"
#include "template.hpp"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: mcp-bridged-documents TEMPLATE RESULT\n", stderr);
    return 2;
  }
  std::vector<documents::DocumentedOption> options;
  for (bridge::OptionDescription& one : bridge::describe_options()) {
    options.push_back({one.group, one.names, one.value, one.text, one.default_value, one.variable});
  }
  const std::string described = documents::groff_options(options);
  // What nobody needs to have completed.
  std::erase_if(options, [](const auto& one) { return one.names.front() == "--"; });
  return documents::fill_template(
      argv[1], argv[2],
      {{"VERSION", MCP_BRIDGE_VERSION},
       {"OPTIONS", described},
       {"BASH_OPTIONS", documents::bash_options(options)},
       {"BASH_VALUES", documents::bash_values(options)},
       {"ZSH_OPTIONS", documents::zsh_options(options)},
       {"FISH_OPTIONS", documents::fish_options("mcp-bridged", options)}});
}
