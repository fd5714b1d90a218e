#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "command_line/options.hpp"

/// What can be said on the command line, in words: the one source of --help, of the man page and of
/// the shells' completions.
namespace client {

struct ManualEntry {
  std::string_view form;  ///< as it is typed: `call NAME [ARGUMENT...]`, `-s, --socket PATH`
  std::string_view text;  ///< in one line, however long
};

std::span<const ManualEntry> manual_commands();
std::span<const ManualEntry> manual_arguments();  ///< of `call`
std::span<const ManualEntry> manual_general_options();
std::span<const ManualEntry> manual_command_options();
std::span<const ManualEntry> manual_exit_codes();

/// Null if there is no such verb.
const ManualEntry* manual_command(std::string_view verb);
/// Its text without the end that leads on to the arguments.
std::string_view summary_of(const ManualEntry& command);
/// The options that are not for all verbs, and that this one takes.
std::vector<ManualEntry> options_of_verb(Verb verb);

}  // namespace client
