#pragma once

#include <cstddef>
#include <span>

#include "cli/option.hpp"
#include "command_line/options.hpp"

/// The rows that describe the command line: verbs and options. The source of --help, help VERB, the
/// man page, the completions, the shell and agent-help.
namespace client {

class Console;
class Dialogue;
struct Prepared;

/// The handlers of a verb; the type of a row's handler tells what the verb needs.
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
/// Makes the request's params from the operands, as JSON, or returns what is wrong with them.
using MakeParams = Params(const Operands&);

/// A row of help: the typed form, and what it does, in one line of any length.
struct HelpEntry {
  std::string_view form;
  std::string_view text;
};

struct OperandCount {
  std::size_t fewest = 0;
  std::size_t most = 0;
  /// From the form: `[NAME]` and `@NAME` are optional, `WORD...` may be repeated.
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
  opens_session = 2,        ///< its first request is for the server, not the daemon
  reports_no_session = 4,   ///< its handler reports a missing session
  takes_notifications = 8,  ///< those pending in the daemon, unless --keep is set
  takes_words = 16,         ///< key=value words after the first operand
  names_jobs = 32,          ///< its operands are jobs; of words only the first is
};

struct Verb {
  std::string_view form;       ///< `read URI`: the name, and the operands as in help
  std::string_view options{};  ///< names of the verb's own options, separated by spaces
  /// A summary in one line; below it further help; after an empty line examples, as whole command
  /// lines. One text, which makes the start faster than three would.
  std::string_view help;
  std::variant<LocalVerb*, DialogueVerb*, PreparedVerb*, RequestHandler> handler;
  MakeParams* params = nullptr;  ///< null: no params, or made by the handler
  unsigned traits = 0;
  std::span<const HelpEntry> words{};  ///< the possible words, for its help

  constexpr bool has(Trait trait) const { return (traits & trait) != 0; }
  constexpr std::string_view name() const { return form.substr(0, form.find(' ')); }
  constexpr OperandCount operands() const { return OperandCount(form); }
  std::string_view summary() const { return help.substr(0, help.find('\n')); }
  std::string_view more() const;  ///< "" = nothing beyond the summary
  std::string_view examples() const { return help.substr(help.find("\n\n") + 2); }
  std::vector<std::string_view> example_lines() const;
};

/// All verbs, in the order of the help.
std::span<const Verb> verbs();
/// Null if there is no verb of this name.
const Verb* find_verb(std::string_view name);
std::vector<std::string_view> verb_names();

/// An option, and the target of its value.
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

/// Options of every verb and the relay, and the other options: the first and the second part of all
/// options.
std::span<const Option> general_options();
std::span<const Option> verb_options();
std::span<const Option> all_options();
/// Whether the option is valid for this verb specifically.
bool goes_with(const Option& option, const Verb& verb);
std::span<const HelpEntry> exit_codes();

/// The text of --help, of `help options` and of `help VERB`, ending with a line break.
std::string help_text();
std::string options_text();
std::string help_text(const Verb& verb);
/// Both as JSON, ending with a line break.
std::string help_json();
std::string help_json(const Verb& verb);

}  // namespace client
