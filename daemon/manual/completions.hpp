#pragma once

#include <string>
#include <vector>

#include "documented_option.hpp"

/// What each shell's completion needs to know of the options, in that shell's syntax.
namespace documents {

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
