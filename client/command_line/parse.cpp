#include <fmt/format.h>

#include <algorithm>

#include "command_line/option_table.hpp"
#include "command_line/options.hpp"
#include "command_line/verb_table.hpp"
#include "spelling/similar.hpp"

namespace client {
namespace {

/// One option as it stood on the command line, to be checked against the verb at the end.
struct SeenOption {
  const OptionEntry* entry;
  std::string_view spelling;
};

class Parser {
 public:
  explicit Parser(const std::vector<std::string_view>& arguments) : arguments_(arguments) {
    options_.operands.reserve(arguments.size());
  }

  std::variant<Options, UsageError> run() {
    while (next_ < arguments_.size() && error_.empty()) argument(arguments_[next_++]);
    if (error_.empty()) check();
    if (!error_.empty()) {
      const bool json =
          std::find(arguments_.begin(), arguments_.end(), "--json") != arguments_.end();
      return UsageError{error_, json};
    }
    return std::move(options_);
  }

 private:
  void argument(std::string_view text) {
    if (only_operands_ || text.size() < 2 || text[0] != '-') {
      operand(text);
    } else if (text == "--") {
      only_operands_ = true;
    } else if (text[1] == '-') {
      const std::size_t equals = std::min(text.find('='), text.size());
      const std::string_view name = text.substr(2, equals - 2);
      option(find([name](const OptionEntry& entry) { return entry.name == name; }),
             text.substr(0, equals), text.substr(equals), 1);
    } else {
      option(find([text](const OptionEntry& entry) { return entry.letter == text[1]; }),
             text.substr(0, 2), text.substr(2), 0);
    }
  }

  void operand(std::string_view text) {
    if (verb_ != nullptr) {
      options_.operands.emplace_back(text);
      return;
    }
    if (text.size() > 1 && text.front() == '@' && options_.server.empty()) {
      options_.server = text.substr(1);
      return;
    }
    verb_ = find_verb_entry(text);
    if (verb_ == nullptr)
      fail(fmt::format("unknown command '{}'{}", text, did_you_mean(text, verb_names())));
  }

  template <typename Predicate>
  static const OptionEntry* find(Predicate matches) {
    const auto entries = option_entries();
    const auto found = std::find_if(entries.begin(), entries.end(), matches);
    return found == entries.end() ? nullptr : &*found;
  }

  static std::string unknown_option(std::string_view spelling) {
    std::vector<std::string_view> names;
    for (const OptionEntry& entry : option_entries()) names.push_back(entry.name);
    const std::string meant =
        spelling.starts_with("--") ? most_similar(spelling.substr(2), names) : std::string();
    return fmt::format("unknown option '{}'{}", spelling,
                       meant.empty() ? meant : fmt::format("; did you mean --{}?", meant));
  }

  /// `attached` is what stands in the same argument, after `skip` characters.
  void option(const OptionEntry* entry, std::string_view spelling, std::string_view attached,
              std::size_t skip) {
    if (entry == nullptr) return fail(unknown_option(spelling));
    if (!entry->takes_value && !attached.empty()) {
      return fail(fmt::format("option {} takes no value", spelling));
    }
    std::string_view value;
    if (!attached.empty()) {
      value = attached.substr(skip);
    } else if (entry->takes_value) {
      if (next_ == arguments_.size()) return fail(fmt::format("option {} needs a value", spelling));
      value = arguments_[next_++];
    }
    if (const auto refusal = entry->store(value, options_)) {
      return fail(fmt::format("option {}: '{}' {}", spelling, value, *refusal));
    }
    seen_.push_back({entry, spelling});
  }

  void check() {
    if (options_.verb == Verb::help || options_.verb == Verb::version) {
      // --help behind a verb is about that.
      const bool is_about_verb = verb_ != nullptr && verb_->verb != Verb::help;
      if (is_about_verb) options_.operands = {std::string(verb_->name)};
      return;
    }
    if (verb_ != nullptr) options_.verb = verb_->verb;
    for (const SeenOption& seen : seen_) {
      if (!may_stand_with(*seen.entry, options_.verb)) {
        return fail(fmt::format("option {} does not go with {}", seen.spelling,
                                verb_ == nullptr ? "the relay" : verb_->name));
      }
    }
    if (verb_ != nullptr) check_operands();
    check_server();
    if (options_.count == std::uint64_t{0}) fail("option --count: it must be at least 1");
    if (options_.names && options_.json) fail("option --names does not go with --json");
    if (options_.detach && (options_.detach_after || !options_.save.empty())) {
      fail("option --detach does not go with --detach-after or --save");
    }
    if (options_.task && is_a_job())
      fail("option --task does not go with --detach, --detach-after or --key");
    if (!options_.roots.empty() && is_a_job())
      fail(
          "option --root does not go with --detach, --detach-after or --key: a job is asked later");
    if (options_.decline && options_.cancel) fail("option --decline does not go with --cancel");
    if ((options_.decline || options_.cancel) && options_.operands.size() > 1) {
      fail("options --decline and --cancel do not go with values for the fields");
    }
    if (!options_.field.empty() && options_.json) fail("option --field does not go with --json");
    if (options_.verb == Verb::agent_help && !options_.save.empty() && !options_.skill)
      fail("agent-help: option --save goes with --skill");
    if (options_.types && (options_.names || options_.brief || options_.full))
      fail("option --types does not go with --names, --brief or --full");
    if (options_.brief && options_.full) fail("option --brief does not go with --full");
    if (options_.verb == Verb::help && !options_.operands.empty() &&
        find_verb_entry(options_.operands.front()) == nullptr) {
      fail(fmt::format("unknown command '{}'{}", options_.operands.front(),
                       did_you_mean(options_.operands.front(), verb_names())));
    }
    if (options_.metrics && (options_.watch || options_.ready))
      fail("option --metrics does not go with --watch or --ready");
    if (options_.watch && options_.ready) fail("option --watch does not go with --ready");
  }

  bool is_a_job() const {
    return options_.detach || options_.detach_after || !options_.key.empty();
  }

  /// Verbs that are about a server by its name may have that behind them.
  void check_server() {
    const Verb verb = options_.verb;
    const bool is_about_server = verb == Verb::approve || verb == Verb::stop || verb == Verb::logs;
    if (is_about_server && !options_.operands.empty()) {
      const std::string& name = options_.operands.front();
      if (!options_.server.empty()) return fail(fmt::format("{} takes one @NAME", verb_->name));
      options_.server = name.substr(name.starts_with('@') ? 1 : 0);
    }
    const int named = (options_.socket.empty() ? 0 : 1) + (options_.server.empty() ? 0 : 1) +
                      (options_.url.empty() ? 0 : 1) + (options_.command.empty() ? 0 : 1);
    if (named > 1) return fail("only one of @NAME, --url, --run and --socket says where to");
    if (options_.all && named > 0)
      return fail("option --all goes with none of @NAME, --url, --run and --socket");
    if (options_.no_start && !options_.all && !names_server(options_))
      fail("option --no-start goes with @NAME, --url or --run");
    if (is_about_server && !names_server(options_))
      fail(fmt::format("usage: mcp-nc {} {}", verb_->name, verb_->operands));
  }

  void check_operands() {
    const std::size_t given = options_.operands.size();
    if (given < verb_->fewest) {
      fail(fmt::format("usage: mcp-nc {} {}", verb_->name, verb_->operands));
    } else if (given > verb_->most) {
      fail(fmt::format("{} takes no further argument '{}'", verb_->name,
                       options_.operands[verb_->most]));
    }
  }

  /// The first one is told.
  void fail(std::string message) {
    if (error_.empty()) error_ = std::move(message);
  }

  const std::vector<std::string_view>& arguments_;
  std::size_t next_ = 0;
  bool only_operands_ = false;
  const VerbEntry* verb_ = nullptr;
  std::vector<SeenOption> seen_;
  Options options_;
  std::string error_;
};

}  // namespace

std::variant<Options, UsageError> parse_command_line(
    const std::vector<std::string_view>& arguments) {
  return Parser(arguments).run();
}

}  // namespace client
