#pragma once

#include <cstddef>
#include <span>

#include "cli/option.hpp"
#include "command_line/options.hpp"

/// The rows that describe the command line: verbs and options. --help, help VERB, the man page, the
/// completions, the shell and agent-help are made of them.
namespace client {

class Console;
class Dialogue;
struct Prepared;

/// The handlers of a verb; which of them a row has says what the verb needs.
using LocalVerb = ExitCode(const Options&, Console&);  ///< no daemon
using DialogueVerb = ExitCode(Dialogue&, const Options&);
using PreparedVerb = ExitCode(Dialogue&, const Options&, const Prepared&);
using PrintResult = ExitCode(Dialogue&, const Options&, const std::string& result);

/// Sends one request, and prints its result.
struct RequestHandler {
  std::string_view method;
  PrintResult* print;
};

using Operands = std::vector<std::string>;
using Params = std::variant<std::string, UsageError>;
/// The request's params of the operands, as JSON, or what is wrong with them.
using MakeParams = Params(const Operands&);

/// A row of help: as it is typed, and what it does, in one line however long.
struct HelpEntry {
  std::string_view form;
  std::string_view text;
};

struct OperandCount {
  std::size_t fewest = 0;
  std::size_t most = 0;
  /// As the form names them: `[NAME]` and `@NAME` need not be there, `WORD...` may be many.
  constexpr explicit OperandCount(std::string_view form) {
    constexpr std::size_t any_number = 100000;
    bool is_optional = false;
    while (form.find(' ') != form.npos) {
      form.remove_prefix(form.find(' ') + 1);
      const std::string_view word = form.substr(0, form.find(' '));
      is_optional = is_optional || word.starts_with('[') || word.starts_with('@');
      if (!is_optional) ++fewest;
      most = word.find("...") == word.npos ? most + 1 : any_number;
    }
  }
};

enum Trait : unsigned {
  about_server = 1,         ///< its operand is the @NAME of a server
  opens_session = 2,        ///< its first request asks the server, not the daemon
  reports_no_session = 4,   ///< its handler does, too
  takes_notifications = 8,  ///< those that wait in the daemon, unless with --keep
  takes_words = 16,         ///< key=value words behind the first operand
};

struct Verb {
  std::string_view form;       ///< `read URI`: the name, and the operands as help names them
  std::string_view options{};  ///< names of those of its own, separated by spaces
  /// What it does, in one line; below it what else its own help says; behind an empty line
  /// examples, whole command lines. One text, which costs a start less than three.
  std::string_view help;
  std::variant<LocalVerb*, DialogueVerb*, PreparedVerb*, RequestHandler> handler;
  MakeParams* params = nullptr;  ///< null: "", or made by the handler
  unsigned traits = 0;
  std::span<const HelpEntry> words{};  ///< what those can be, for its help

  constexpr bool has(Trait trait) const { return (traits & trait) != 0; }
  constexpr std::string_view name() const { return form.substr(0, form.find(' ')); }
  constexpr OperandCount operands() const { return OperandCount(form); }
  std::string_view summary() const { return help.substr(0, help.find('\n')); }
  std::string_view more() const;  ///< "" = the summary says it all
  std::string_view examples() const { return help.substr(help.find("\n\n") + 2); }
  std::vector<std::string_view> example_lines() const;
};

/// All verbs, in the order of the help.
std::span<const Verb> verbs();
/// Null if there is none of this name.
const Verb* find_verb(std::string_view name);
std::vector<std::string_view> verb_names();

/// An option, and where its value goes.
struct Option : cli::Option {
  using Target =
      std::variant<bool Options::*, std::string Options::*, std::vector<std::string> Options::*,
                   Milliseconds Options::*, std::optional<Milliseconds> Options::*,
                   std::optional<std::uint64_t> Options::*>;

  constexpr Option(std::string_view form_, Target target_, std::string_view text_,
                   const char* group)
      : cli::Option(form_, text_, group), target(target_) {}

  Target target;
};

/// Options that every verb and the relay take, and the others: the first and the second part of
/// all.
std::span<const Option> general_options();
std::span<const Option> verb_options();
std::span<const Option> all_options();
/// Whether the option is one of this verb's own.
bool goes_with(const Option& option, const Verb& verb);
std::span<const HelpEntry> exit_codes();

/// The text of --help, and of `help VERB`, with line break.
std::string help_text();
std::string help_text(const Verb& verb);
/// Both as JSON, with line break.
std::string help_json();
std::string help_json(const Verb& verb);

}  // namespace client
