#include "documents.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace documents {
namespace {

enum class Values { none, file, folder, choices, other };

Values values_of(const DocumentedOption& option) {
  if (option.value().empty()) return Values::none;
  if (option.value().find('|') != std::string::npos) return Values::choices;
  if (option.value() == "DIR" || option.value() == "[DIR]") return Values::folder;
  if (option.value() == "FILE" || option.value() == "PATH") return Values::file;
  return Values::other;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string choices_of(const DocumentedOption& option) {
  return replaced(std::string(option.value()), "|", " ");
}

/// For use inside '…' in bash and zsh.
std::string quoted_inside(std::string text) { return replaced(std::move(text), "'", "'\\''"); }

/// The text of a spec, in which brackets would end it and colons would split it.
std::string zsh_text(const DocumentedOption& option) {
  std::string text = replaced(std::string(option.text), "\\", "\\\\");
  for (const std::string_view special : {"[", "]", ":"})
    text = replaced(text, special, "\\" + std::string(special));
  return quoted_inside(text);
}

std::string zsh_value(const DocumentedOption& option) {
  switch (values_of(option)) {
    case Values::none: return {};
    case Values::file: return fmt::format(":{}:_files", option.value());
    case Values::folder: return fmt::format(":{}:_files -/", option.value());
    case Values::choices: return fmt::format(":value:({})", choices_of(option));
    case Values::other:
      return fmt::format(":{}: ", quoted_inside(replaced(std::string(option.value()), ":", "\\:")));
  }
  return {};
}

/// One quoted spec for _arguments.
std::string zsh_spec(const DocumentedOption& option, std::string_view name) {
  const std::string takes = option.value().empty() ? "" : name.starts_with("--") ? "=" : "+";
  return fmt::format("'*{}{}[{}]{}'", name, takes, zsh_text(option), zsh_value(option));
}

}  // namespace

std::string bash_options(const std::vector<DocumentedOption>& options) {
  std::string words;
  for (const DocumentedOption& option : options) {
    for (const std::string_view name : option.names())
      words.append(words.empty() ? "" : " ").append(name);
  }
  return words;
}

std::string bash_options_of(const std::vector<std::string>& commands,
                            const std::vector<DocumentedOption>& options) {
  std::string branches;
  for (const std::string& command : commands) {
    std::vector<DocumentedOption> taken;
    for (const DocumentedOption& option : options) {
      const auto& of = option.commands;
      if (of.empty() || std::find(of.begin(), of.end(), command) != of.end())
        taken.push_back(option);
    }
    branches += fmt::format("    {}) options='{}' ;;\n", command, bash_options(taken));
  }
  return branches;
}

std::string bash_values(const std::vector<DocumentedOption>& options) {
  std::string branches;
  for (const DocumentedOption& option : options) {
    const Values values = values_of(option);
    if (values == Values::none) continue;
    std::string offer = "return 0";
    if (values == Values::file)
      offer = R"(mapfile -t COMPREPLY < <(compgen -f -- "$current"); return 0)";
    if (values == Values::folder)
      offer = R"(mapfile -t COMPREPLY < <(compgen -d -- "$current"); return 0)";
    if (values == Values::choices) {
      offer = fmt::format(R"(mapfile -t COMPREPLY < <(compgen -W '{}' -- "$current"); return 0)",
                          choices_of(option));
    }
    std::string names;
    for (const std::string_view name : option.names())
      names.append(names.empty() ? "" : " | ").append(name);
    branches += fmt::format("    {}) {} ;;\n", names, offer);
  }
  return branches;
}

std::string zsh_options(const std::vector<DocumentedOption>& options) {
  std::string specs;
  for (const DocumentedOption& option : options) {
    for (const std::string_view name : option.names())
      specs += fmt::format("  {} \\\n", zsh_spec(option, name));
  }
  return specs;
}

std::string zsh_options_of_command(const std::vector<DocumentedOption>& options) {
  std::string statements;
  for (const DocumentedOption& option : options) {
    std::string specs;
    for (const std::string_view name : option.names())
      specs += (specs.empty() ? "" : " ") + zsh_spec(option, name);
    const std::string condition =
        option.commands.empty()
            ? ""
            : fmt::format("[[ -z $command || ' {} ' == *\" $command \"* ]] &&\n  ",
                          fmt::join(option.commands, " "));
    statements += fmt::format("{}specs+=({})\n", condition, specs);
  }
  return statements;
}

std::string fish_options(const std::string& program, const std::vector<DocumentedOption>& options) {
  std::string lines;
  const std::string takes_option = "__" + replaced(program, "-", "_") + "_takes_option";
  for (const DocumentedOption& option : options) {
    std::string line = "complete -c " + program;
    if (!option.commands.empty())
      line += fmt::format(" -n '{} {}'", takes_option, fmt::join(option.commands, " "));
    for (const std::string_view name : option.names()) {
      line.append(name.starts_with("--") ? " -l " : " -s ")
          .append(name.substr(name.find_first_not_of('-')));
    }
    switch (values_of(option)) {
      case Values::none: break;
      case Values::file: line += " -r -F"; break;
      case Values::folder: line += " -x -a '(__fish_complete_directories)'"; break;
      case Values::choices: line += fmt::format(" -x -a '{}'", choices_of(option)); break;
      case Values::other: line += " -x"; break;
    }
    lines += fmt::format("{} -d '{}'\n", line,
                         replaced(replaced(std::string(option.text), "\\", "\\\\"), "'", "\\'"));
  }
  return lines;
}

}  // namespace documents
