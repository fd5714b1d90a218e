#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/option.hpp"

/// Builds man pages and completions from the options as the programs define them. Runs when the
/// project is built; not part of the programs.
namespace documents {

/// An option of either program.
struct DocumentedOption : cli::Option {
  std::vector<std::string> commands{};  ///< that take it; empty: all
};

/// Copies `from` to `to`, with each `@NAME@` replaced by its value. Returns an exit code; an
/// unknown name is an error, reported on stderr.
int fill_template(const std::string& from, const std::string& to,
                  const std::map<std::string, std::string>& values);

/// Escapes text so that groff(7) prints it unchanged.
std::string groff_text(std::string_view text);

/// `.TP` paragraphs, with a `.SS` before each group (none for an empty group).
std::string groff_options(const std::vector<DocumentedOption>& options);

/// One `.TP` paragraph: the form to type, and its meaning.
std::string groff_entry(std::string_view form, std::string_view text);

// What each shell's completion needs to know of the options, in that shell's syntax.

/// Words, separated by spaces.
std::string bash_options(const std::vector<DocumentedOption>& options);
/// Branches of a `case` over the command: `options`, set to the words valid for it.
std::string bash_options_of(const std::vector<std::string>& commands,
                            const std::vector<DocumentedOption>& options);
/// Branches of a `case` over the option's name: files, folders, choices. For other values nothing
/// is offered.
std::string bash_values(const std::vector<DocumentedOption>& options);

/// Quoted specs for _arguments, one per line, each ending with ` \`.
std::string zsh_options(const std::vector<DocumentedOption>& options);
/// Statements that add them to the array `specs`, if `command` is empty or takes them.
std::string zsh_options_of_command(const std::vector<DocumentedOption>& options);

/// `complete -c PROGRAM …` lines. For an option of certain commands, the condition is the function
/// `__PROGRAM_takes_option`, called with those commands.
std::string fish_options(const std::string& program, const std::vector<DocumentedOption>& options);

}  // namespace documents
