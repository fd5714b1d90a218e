#include <fmt/format.h>

#include "base/contains.hpp"
#include "cli/command_line.hpp"
#include "command_line/verb.hpp"
#include "json/json_text.hpp"
#include "text/characters.hpp"
#include "text/similar.hpp"
#include "text/utf8.hpp"

namespace client {
namespace {

/// The longest key that the daemon accepts.
constexpr std::size_t longest_key = 256;
/// The bounds of a grant at the daemon.
constexpr Milliseconds longest_grant = std::chrono::hours(24);
constexpr std::uint64_t most_calls = 1'000'000'000;

/// Stores a value; returns why it is invalid, or "".
template <class Target>
std::string store(std::string_view text, Target& target) {
  if constexpr (std::is_same_v<Target, bool>) {
    target = true;
  } else if constexpr (std::is_same_v<Target, std::vector<std::string>>) {
    return store(text, target.emplace_back());
  } else if constexpr (std::is_same_v<Target, std::string>) {
    target = text;
    if (text.empty()) return "is empty";
  } else if constexpr (std::is_same_v<Target, std::optional<std::uint64_t>>) {
    target = bridge::to_unsigned(text);
    if (!target) return "is not a whole number";
  } else {
    const auto parsed = cli::parse_duration(text);
    if (!parsed) return "is not a duration (a number with ms, s, m or h)";
    target = *parsed;
  }
  return {};
}

/// Whether it has a scheme and a host; the daemon checks the rest.
bool is_address(std::string_view url) {
  const std::size_t end = url.find("://");
  const std::string scheme = bridge::ascii_lower(url.substr(0, end));
  if (end == url.npos || !bridge::has_word("http https http+unix", scheme)) return false;
  const std::string_view host = url.substr(end + 3);
  return !host.empty() && std::string_view("/?#:").find(host.front()) == host.npos &&
         std::all_of(host.begin(), host.end(),
                     [](char c) { return static_cast<unsigned char>(c) > ' '; });
}

/// Words that other programs use, and what to type here.
constexpr std::pair<std::string_view, std::string_view> other_words[] = {
    {"ls list tools/list list-tools tool tools-list", "tools"},
    {"tools/call tools-call invoke use run exec", "call NAME key=value"},
    {"get cat resources/read resources-read", "read URI"},
    {"resources/list resources-list resource", "resources"},
    {"prompts/list prompts-list", "prompts"},
    {"prompts/get prompts-get", "prompt NAME key=text"},
    {"connect open add start", "@NAME server, or --url URL server"},
    {"disconnect close quit kill", "stop @NAME"},
    {"sessions connections config ps", "servers"},
    {"info describe initialize show about", "server"},
    {"search find", "grep WORD"},
    {"watch events notifications", "listen"},
    {"auth", "login"},
};

/// `before`: the options and the server before it; `next` is the word after it, `has_pair` whether
/// some word is key=value.
std::string unknown(const Options& before, std::string_view command, std::string_view next = {},
                    bool has_pair = false) {
  const bool is_named = names_server(before) || !before.socket.empty();
  const auto type = [&before](std::string_view words) {
    return fmt::format("; type: {} {}", typed_program(before), bridge::cut_off(words, 100));
  };
  std::string advice;
  for (const auto& [words, typed] : other_words) {
    const bool names_one = typed.find('@') != typed.npos;
    if (bridge::has_word(words, command) && !(is_named && names_one)) advice = type(typed);
  }
  if (find_verb(next) != nullptr && !is_named) {
    advice = type(fmt::format("@{} {}", command, next));
  } else if (has_pair) {
    advice = type(fmt::format("call {} key=value", command));
  } else if (advice.empty()) {
    advice = bridge::did_you_mean(command, verb_names());
  }
  if (advice.empty() && command.find('/') != command.npos)
    advice = type(fmt::format("request {}", command));
  if (advice.empty() && !is_named)
    advice = type(fmt::format("call {0} for a tool, @{0} for a server", command));
  if (advice.empty()) advice = type(fmt::format("call {}", command));
  return fmt::format("unknown command '{}'{}", command, advice);
}

class Parser {
 public:
  explicit Parser(const std::vector<std::string_view>& arguments) : arguments_(arguments) {
    options_.operands.reserve(arguments.size());
  }

  std::variant<Options, UsageError> run() {
    error_ = cli::read_command_line(
        std::span(arguments_), all_options(),
        [this](const Option& option, std::string_view spelling,
               std::optional<std::string_view> value) {
          return take_option(option, spelling, value);
        },
        [this](std::string_view word) { return take_operand(word); });
    const bool is_call = options_.verb != nullptr && options_.verb->has(takes_words);
    if (is_call && error_.starts_with("unknown option '--"))
      error_ += "; arguments have no dashes: key=value";
    if (error_.empty()) check();
    if (error_.empty()) return std::move(options_);
    return UsageError{error_, bridge::contains(arguments_, "--json"),
                      options_.verb == nullptr ? std::string_view() : options_.verb->name()};
  }

 private:
  std::string take_operand(std::string_view text) {
    if (options_.verb != nullptr) {
      options_.operands.emplace_back(text);
    } else if (text.size() > 1 && text.front() == '@' && options_.server.empty()) {
      options_.server = text.substr(1);
    } else if (text == "@") {
      return "no name after @; list them with: mcp-nc servers";
    } else {
      options_.verb = find_verb(text);
      if (options_.verb == nullptr) {
        const auto at = std::find_if(arguments_.begin(), arguments_.end(),
                                     [&](auto one) { return one.data() == text.data(); });
        const bool is_last = at == arguments_.end() || at + 1 == arguments_.end();
        const bool has_pair = std::any_of(at, arguments_.end(), [](std::string_view one) {
          return !one.starts_with('-') && one.find('=') != one.npos;
        });
        return unknown(options_, text, is_last ? std::string_view() : at[1], has_pair);
      }
    }
    return {};
  }

  std::string take_option(const Option& option, std::string_view spelling,
                          std::optional<std::string_view> value) {
    if (!option.takes_value() && value) return fmt::format("option {} takes no value", spelling);
    const std::string refusal = std::visit(
        [&](auto target) { return store(value.value_or(""), options_.*target); }, option.target);
    if (!refusal.empty()) return fmt::format("option {}: '{}' {}", spelling, *value, refusal);
    seen_.emplace_back(&option, spelling);
    return {};
  }

  void check() {
    if (options_.help || options_.version) {
      // --help after a verb shows that verb's help.
      const Verb* const wanted = find_verb(options_.help ? "help" : "version");
      if (options_.verb != nullptr && options_.verb->name() != "help")
        options_.operands = {std::string(options_.verb->name())};
      options_.verb = wanted;
      return;
    }
    const Verb* const verb = options_.verb;
    for (const auto& [option, spelling] : seen_) {
      const bool is_general = option < &verb_options().front();
      if (!is_general && (verb == nullptr || !goes_with(*option, *verb))) {
        return fail(fmt::format("option {} does not go with {}", spelling,
                                verb == nullptr ? "the relay" : verb->name()));
      }
    }
    if (verb != nullptr) check_operands(*verb);
    check_server();
    check_options();
  }

  void check_options() {
    Options& o = options_;
    if (o.timeout == Milliseconds(0)) o.timeout.reset();  // no limit
    if (!bridge::is_utf8(o.key)) fail("option --key: it is not UTF-8");
    if (o.key.size() > longest_key)
      fail(fmt::format("option --key: it has more than {} bytes", longest_key));
    const bool grants = o.verb != nullptr && o.verb->name() == "grant";  // its --tools, --calls
    if (o.count == std::uint64_t{0})
      fail(fmt::format("option {}: it must be at least 1", grants ? "--calls" : "--count"));
    if (grants && o.count && *o.count > most_calls)
      fail(fmt::format("option --calls: it must be at most {}", most_calls));
    if (grants && o.listen_for &&
        (*o.listen_for < Milliseconds(1) || *o.listen_for > longest_grant))
      fail("option --for: a grant lasts at least 1ms, at most 24h");
    if (o.exec.empty() && !grants && (!o.methods.empty() || o.retries))
      fail("options --method and --retries go with --exec");
    if (!o.dead.empty() && !o.retries) fail("option --dead goes with --retries");
    exclude(!o.exec.empty() && (o.since || o.sequence), "--exec", "--since or --seq");
    exclude(o.check && o.names, "--check", "--names");
    exclude(o.names && o.json, "--names", "--json");
    exclude(o.detach && (o.detach_after || !o.save.empty()), "--detach",
            "--detach-after or --save");
    exclude(o.task && is_job(o), "--task", "--detach, --detach-after or --key");
    exclude(!o.roots.empty() && is_job(o), "--root",
            "--detach, --detach-after or --key: a job is asked later");
    exclude(o.decline && o.cancel, "--decline", "--cancel");
    if ((o.decline || o.cancel) && o.operands.size() > 1)
      fail("options --decline and --cancel do not go with values for the fields");
    exclude(!o.field.empty() && o.json, "--field", "--json");
    if (o.verb != nullptr && o.verb->name() == "agent-help" && !o.save.empty() && !o.skill)
      fail("agent-help: option --save goes with --skill");
    exclude(!o.output.empty() && (o.json || o.detach || !o.field.empty() || !o.save.empty()),
            "--output", "--json, --field, --save or --detach");
    exclude(o.types && (o.names || o.brief || o.full), "--types", "--names, --brief or --full");
    exclude(o.brief && o.full, "--brief", "--full");
    exclude(o.metrics && (o.watch || o.ready), "--metrics", "--watch or --ready");
    exclude(o.watch && o.ready, "--watch", "--ready");
  }

  void exclude(bool are_both_given, std::string_view one, std::string_view others) {
    if (are_both_given) fail(fmt::format("option {} does not go with {}", one, others));
  }

  /// Verbs about a server may have its name as their operand.
  void check_server() {
    const Verb* const verb = options_.verb;
    const bool is_about_server = verb != nullptr && verb->has(about_server);
    if (is_about_server && !options_.operands.empty()) {
      const std::string& name = options_.operands.front();
      if (!options_.server.empty()) return fail(fmt::format("{} takes one @NAME", verb->name()));
      options_.server = name.substr(name.starts_with('@') ? 1 : 0);
    }
    const int named = (options_.socket.empty() ? 0 : 1) + (options_.server.empty() ? 0 : 1) +
                      (options_.url.empty() ? 0 : 1) + (options_.command.empty() ? 0 : 1);
    if (named > 1) return fail("give only one of @NAME, --url, --run and --socket");
    if (options_.all && named > 0)
      return fail("option --all goes with none of @NAME, --url, --run and --socket");
    if (options_.no_start && !options_.all && !options_.check && !names_server(options_))
      fail("option --no-start goes with @NAME, --url or --run");
    if (is_about_server && !names_server(options_)) fail_by_usage(*verb);
    if (!options_.url.empty() && !is_address(options_.url))
      fail("option --url: it is not an address; expected http://HOST[:PORT]/PATH or https://...");
    check_credentials();
  }

  /// A file of servers has its own place for headers, and a program its environment for a token.
  void check_credentials() {
    const Options& o = options_;
    if (o.url.empty() && !o.headers.empty()) return fail("option --header goes with --url");
    if (o.url.empty() && o.server.empty() && !o.token_file.empty())
      return fail("option --token-file goes with @NAME and --url");
    const bool has_oauth = o.oauth_assume_pkce || !o.oauth_client_id.empty() ||
                           !o.oauth_client_secret_file.empty() || !o.oauth_redirect.empty() ||
                           !o.oauth_scope.empty();
    if (has_oauth && o.url.empty() && o.server.empty())
      fail("the options --oauth-... go with @NAME and --url; a running daemon has its own");
  }

  void check_operands(const Verb& verb) {
    const auto& operands = options_.operands;
    const OperandCount count = verb.operands();
    if (operands.size() < count.fewest) fail_by_usage(verb);
    if (operands.size() > count.most)
      fail(fmt::format("{} takes no further argument '{}'", verb.name(), operands[count.most]));
    const bool is_about_verb = verb.name() == "help" && !operands.empty();
    if (is_about_verb && operands.front() != "options" && find_verb(operands.front()) == nullptr)
      fail(unknown(options_, operands.front()));
  }

  void fail_by_usage(const Verb& verb) { fail(fmt::format("usage: mcp-nc {}", verb.form)); }

  /// Only the first error is reported.
  void fail(std::string message) {
    if (error_.empty()) error_ = std::move(message);
  }

  const std::vector<std::string_view>& arguments_;
  std::vector<std::pair<const Option*, std::string_view>> seen_;  // and how they are spelled
  Options options_;
  std::string error_;
};

}  // namespace

std::variant<Options, UsageError> parse_command_line(
    const std::vector<std::string_view>& arguments) {
  return Parser(arguments).run();
}

}  // namespace client
