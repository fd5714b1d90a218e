#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <initializer_list>

#include "command_line/options.hpp"
#include "spelling/similar.hpp"
#include "text/utf8.hpp"

namespace client {
namespace {

struct VerbEntry {
  std::string_view name;
  Verb verb;
  std::size_t fewest;
  std::size_t most;
  std::string_view operands;  // for the message
};

constexpr std::size_t any_number = 100000;
/// The daemon lets one connection wait for so many.
constexpr std::size_t most_jobs = 64;

constexpr VerbEntry verbs[] = {
    {"tools", Verb::tools, 0, 1, "[NAME]"},
    {"call", Verb::call, 1, any_number, "NAME [key=value] [key:=json] [key:@FILE] ['{...}'] [-]"},
    {"resources", Verb::resources, 0, 0, ""},
    {"read", Verb::read, 1, 1, "URI"},
    {"prompts", Verb::prompts, 0, 0, ""},
    {"prompt", Verb::prompt, 1, any_number, "NAME [key=text]"},
    {"request", Verb::request, 1, 2, "METHOD [PARAMS]"},
    {"notify", Verb::notify, 1, 2, "METHOD [PARAMS]"},
    {"listen", Verb::listen, 0, 0, ""},
    {"status", Verb::status, 0, 0, ""},
    {"jobs", Verb::jobs, 0, 0, ""},
    {"wait", Verb::wait, 1, most_jobs, "JOB..."},
    {"answer", Verb::answer, 1, any_number, "JOB [key=text] [key:=json] ['{...}'] [-]"},
    {"cancel", Verb::cancel, 1, 1, "JOB"},
    {"forget", Verb::forget, 1, 1, "JOB"},
    {"grep", Verb::grep, 1, any_number, "WORD..."},
    {"templates", Verb::templates, 0, 0, ""},
    {"server", Verb::server, 0, 0, ""},
    {"ping", Verb::ping, 0, 0, ""},
    {"subscribe", Verb::subscribe, 1, any_number, "URI..."},
    {"unsubscribe", Verb::unsubscribe, 1, any_number, "URI..."},
    {"log-level", Verb::log_level, 1, 1, "LEVEL"},
    {"complete", Verb::complete, 4, any_number, "prompt|resource NAME ARGUMENT VALUE [key=text]"},
    {"monitor", Verb::monitor, 0, 0, ""},
    {"agent-help", Verb::agent_help, 0, 0, ""},
    {"login", Verb::login, 0, 0, ""},
    {"logout", Verb::logout, 0, 0, ""},
    {"help", Verb::help, 0, 1, "[COMMAND]"},
    {"version", Verb::version, 0, 0, ""},
};

const VerbEntry* find_entry(std::string_view name) {
  const auto* found = std::find_if(std::begin(verbs), std::end(verbs),
                                   [name](const VerbEntry& entry) { return entry.name == name; });
  return found == std::end(verbs) ? nullptr : found;
}

using Refusal = std::optional<std::string>;  // why a value cannot be used

Refusal store_duration(std::string_view text, Milliseconds& target) {
  const auto parsed = parse_duration(text);
  if (!parsed) return "is no duration (a number with ms, s, m or h)";
  target = *parsed;
  return std::nullopt;
}

/// Zero means no limit.
Refusal store_limit(std::string_view text, std::optional<Milliseconds>& target) {
  Milliseconds parsed{0};
  if (auto refusal = store_duration(text, parsed)) return refusal;
  target = parsed.count() > 0 ? std::optional(parsed) : std::nullopt;
  return std::nullopt;
}

Refusal store_number(std::string_view text, std::optional<std::uint64_t>& target) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end) return "is no whole number";
  target = number;
  return std::nullopt;
}

Refusal store_text(std::string_view text, std::string& target) {
  if (text.empty()) return "is empty";
  target = text;
  return std::nullopt;
}

/// The daemon takes no longer one.
constexpr std::size_t longest_key = 256;

Refusal store_key(std::string_view text, std::string& target) {
  if (!bridge::is_utf8(text)) return "is not UTF-8";
  if (text.size() > longest_key) return fmt::format("has more than {} bytes", longest_key);
  return store_text(text, target);
}

struct OptionEntry {
  std::string_view name;
  char letter;  // 0 = none
  bool takes_value;
  Refusal (*store)(std::string_view value, Options& options);
  std::initializer_list<Verb> verbs;  // empty = all
};

using Text = std::string_view;
constexpr auto set = [](bool& flag) {
  flag = true;
  return Refusal();
};

const OptionEntry option_table[] = {
    {"socket", 's', true, [](Text v, Options& o) { return store_text(v, o.socket); }, {}},
    {"peer", 0, true, [](Text v, Options& o) { return store_text(v, o.peer); }, {}},
    {"timeout", 'w', true, [](Text v, Options& o) { return store_limit(v, o.timeout); }, {}},
    {"wait", 0, true, [](Text v, Options& o) { return store_duration(v, o.wait); }, {}},
    {"keep",
     0,
     false,
     [](Text, Options& o) { return set(o.keep); },
     {Verb::tools, Verb::call, Verb::resources, Verb::read, Verb::prompts, Verb::prompt,
      Verb::request, Verb::notify, Verb::status}},
    {"json",
     0,
     false,
     [](Text, Options& o) { return set(o.json); },
     {Verb::tools,    Verb::call,       Verb::resources, Verb::read,        Verb::prompts,
      Verb::prompt,   Verb::request,    Verb::status,    Verb::grep,        Verb::templates,
      Verb::server,   Verb::ping,       Verb::subscribe, Verb::unsubscribe, Verb::log_level,
      Verb::complete, Verb::agent_help, Verb::notify,    Verb::listen,      Verb::version,
      Verb::jobs,     Verb::wait,       Verb::answer,    Verb::cancel,      Verb::forget,
      Verb::login,    Verb::logout,     Verb::monitor}},
    {"max-bytes",
     0,
     true,
     [](Text v, Options& o) { return store_number(v, o.max_bytes); },
     {Verb::tools, Verb::call, Verb::resources, Verb::read, Verb::prompts, Verb::prompt,
      Verb::request, Verb::grep, Verb::templates, Verb::server, Verb::complete, Verb::agent_help,
      Verb::jobs, Verb::wait}},
    {"field",
     0,
     true,
     [](Text v, Options& o) { return store_text(v, o.field); },
     {Verb::call, Verb::read, Verb::prompt, Verb::request}},
    {"names",
     0,
     false,
     [](Text, Options& o) { return set(o.names); },
     {Verb::tools, Verb::resources, Verb::prompts, Verb::templates, Verb::jobs}},
    {"brief", 0, false, [](Text, Options& o) { return set(o.brief); }, {Verb::tools}},
    {"full", 0, false, [](Text, Options& o) { return set(o.full); }, {Verb::tools}},
    {"save",
     0,
     true,
     [](Text v, Options& o) { return store_text(v, o.save); },
     {Verb::call, Verb::read, Verb::prompt, Verb::wait}},
    {"raw", 0, false, [](Text, Options& o) { return set(o.raw); }, {Verb::call}},
    {"detach", 0, false, [](Text, Options& o) { return set(o.detach); }, {Verb::call}},
    {"detach-after",
     0,
     true,
     [](Text v, Options& o) { return store_duration(v, o.detach_after.emplace()); },
     {Verb::call}},
    {"key", 0, true, [](Text v, Options& o) { return store_key(v, o.key); }, {Verb::call}},
    {"any", 0, false, [](Text, Options& o) { return set(o.any); }, {Verb::wait}},
    {"decline", 0, false, [](Text, Options& o) { return set(o.decline); }, {Verb::answer}},
    {"cancel",
     0,
     false,
     [](Text, Options& o) { return set(o.cancel); },
     {Verb::answer, Verb::login}},
    {"device", 0, false, [](Text, Options& o) { return set(o.device); }, {Verb::login}},
    {"open", 0, false, [](Text, Options& o) { return set(o.open); }, {Verb::login}},
    {"for",
     0,
     true,
     [](Text v, Options& o) { return store_duration(v, o.listen_for.emplace()); },
     {Verb::listen, Verb::monitor}},
    {"count",
     0,
     true,
     [](Text v, Options& o) { return store_number(v, o.count); },
     {Verb::listen, Verb::monitor}},
    {"since", 0, true, [](Text v, Options& o) { return store_number(v, o.since); }, {Verb::listen}},
    {"seq", 0, false, [](Text, Options& o) { return set(o.sequence); }, {Verb::listen}},
    {"ready", 0, false, [](Text, Options& o) { return set(o.ready); }, {Verb::status}},
    {"metrics", 0, false, [](Text, Options& o) { return set(o.metrics); }, {Verb::status}},
    {"watch", 0, false, [](Text, Options& o) { return set(o.watch); }, {Verb::status}},
    {"help",
     'h',
     false,
     [](Text, Options& o) {
       o.verb = Verb::help;
       return Refusal();
     },
     {}},
    {"version",
     'V',
     false,
     [](Text, Options& o) {
       o.verb = Verb::version;
       return Refusal();
     },
     {}},
};

/// One option as it stood on the command line, to be checked against the verb at the end.
struct SeenOption {
  const OptionEntry* entry;
  std::string_view spelling;
};

class Parser {
 public:
  explicit Parser(const std::vector<std::string_view>& arguments) : arguments_(arguments) {}

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
    verb_ = find_entry(text);
    if (verb_ == nullptr)
      fail(fmt::format("unknown command '{}'{}", text, did_you_mean(text, verb_names())));
  }

  template <typename Predicate>
  static const OptionEntry* find(Predicate matches) {
    const auto* found = std::find_if(std::begin(option_table), std::end(option_table), matches);
    return found == std::end(option_table) ? nullptr : found;
  }

  static std::string unknown_option(std::string_view spelling) {
    std::vector<std::string_view> names;
    for (const OptionEntry& entry : option_table) names.push_back(entry.name);
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
      const auto allowed = seen.entry->verbs;
      if (allowed.size() > 0 &&
          std::find(allowed.begin(), allowed.end(), options_.verb) == allowed.end()) {
        return fail(fmt::format("option {} does not go with {}", seen.spelling,
                                verb_ == nullptr ? "the relay" : verb_->name));
      }
    }
    if (verb_ != nullptr) check_operands();
    if (options_.count == std::uint64_t{0}) fail("option --count: it must be at least 1");
    if (options_.names && options_.json) fail("option --names does not go with --json");
    if (options_.detach && (options_.detach_after || !options_.save.empty())) {
      fail("option --detach does not go with --detach-after or --save");
    }
    if (options_.decline && options_.cancel) fail("option --decline does not go with --cancel");
    if ((options_.decline || options_.cancel) && options_.operands.size() > 1) {
      fail("options --decline and --cancel do not go with values for the fields");
    }
    if (!options_.field.empty() && options_.json) fail("option --field does not go with --json");
    if (options_.brief && options_.full) fail("option --brief does not go with --full");
    if (options_.verb == Verb::help && !options_.operands.empty() &&
        find_entry(options_.operands.front()) == nullptr) {
      fail(fmt::format("unknown command '{}'{}", options_.operands.front(),
                       did_you_mean(options_.operands.front(), verb_names())));
    }
    if (options_.metrics && (options_.json || options_.watch || options_.ready)) {
      fail("option --metrics does not go with --json, --watch or --ready");
    }
    if (options_.watch && (options_.json || options_.ready)) {
      fail("option --watch does not go with --json or --ready");
    }
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

  void fail(std::string message) { error_ = std::move(message); }

  const std::vector<std::string_view>& arguments_;
  std::size_t next_ = 0;
  bool only_operands_ = false;
  const VerbEntry* verb_ = nullptr;
  std::vector<SeenOption> seen_;
  Options options_;
  std::string error_;
};

}  // namespace

std::vector<std::string_view> verb_names() {
  std::vector<std::string_view> names;
  for (const VerbEntry& entry : verbs) names.push_back(entry.name);
  return names;
}

std::variant<Options, UsageError> parse_command_line(
    const std::vector<std::string_view>& arguments) {
  return Parser(arguments).run();
}

std::optional<Verb> find_verb(std::string_view name) {
  const VerbEntry* const entry = find_entry(name);
  return entry == nullptr ? std::nullopt : std::optional(entry->verb);
}

bool goes_with(std::string_view option, Verb verb) {
  return std::any_of(
      std::begin(option_table), std::end(option_table), [option, verb](const OptionEntry& entry) {
        return option.substr(2) == entry.name &&
               std::find(entry.verbs.begin(), entry.verbs.end(), verb) != entry.verbs.end();
      });
}

}  // namespace client
