#include "command_line/option_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "text/utf8.hpp"

namespace client {
namespace {

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

using Text = std::string_view;
constexpr auto set = [](bool& flag) {
  flag = true;
  return Refusal();
};

const OptionEntry option_table[] = {
    {"socket", 's', true, [](Text v, Options& o) { return store_text(v, o.socket); }, {}},
    {"peer", 0, true, [](Text v, Options& o) { return store_text(v, o.peer); }, {}},
    {"config", 0, true, [](Text v, Options& o) { return store_text(v, o.config); }, {}},
    {"url", 0, true, [](Text v, Options& o) { return store_text(v, o.url); }, {}},
    {"run", 0, true, [](Text v, Options& o) { return store_text(v, o.command); }, {}},
    {"root",
     0,
     true,
     [](Text v, Options& o) { return store_text(v, o.roots.emplace_back()); },
     {Verb::tools, Verb::call, Verb::resources, Verb::read, Verb::prompts, Verb::prompt,
      Verb::request, Verb::templates, Verb::grep, Verb::complete}},
    {"no-start", 0, false, [](Text, Options& o) { return set(o.no_start); }, {}},
    {"timeout", 'w', true, [](Text v, Options& o) { return store_limit(v, o.timeout); }, {}},
    {"wait", 0, true, [](Text v, Options& o) { return store_duration(v, o.wait); }, {}},
    {"keep",
     0,
     false,
     [](Text, Options& o) { return set(o.keep); },
     {Verb::tools, Verb::call, Verb::resources, Verb::read, Verb::prompts, Verb::prompt,
      Verb::request, Verb::notify, Verb::status}},
    {"json", 0, false, [](Text, Options& o) { return set(o.json); }, {every_verb}},
    {"max-bytes",
     0,
     true,
     [](Text v, Options& o) { return store_number(v, o.max_bytes); },
     {Verb::tools, Verb::call, Verb::resources, Verb::read, Verb::prompts, Verb::prompt,
      Verb::request, Verb::grep, Verb::templates, Verb::server, Verb::complete, Verb::agent_help,
      Verb::jobs, Verb::wait, Verb::tasks, Verb::skills}},
    {"field",
     0,
     true,
     [](Text v, Options& o) { return store_text(v, o.field); },
     {Verb::call, Verb::read, Verb::prompt, Verb::request, Verb::tasks}},
    {"names",
     0,
     false,
     [](Text, Options& o) { return set(o.names); },
     {Verb::tools, Verb::resources, Verb::prompts, Verb::templates, Verb::jobs, Verb::servers,
      Verb::tasks, Verb::skills}},
    {"brief", 0, false, [](Text, Options& o) { return set(o.brief); }, {Verb::tools}},
    {"types", 0, false, [](Text, Options& o) { return set(o.types); }, {Verb::tools}},
    {"full", 0, false, [](Text, Options& o) { return set(o.full); }, {Verb::tools}},
    {"save",
     0,
     true,
     [](Text v, Options& o) { return store_text(v, o.save); },
     {Verb::call, Verb::read, Verb::prompt, Verb::wait, Verb::tasks, Verb::agent_help}},
    {"raw", 0, false, [](Text, Options& o) { return set(o.raw); }, {Verb::call}},
    {"detach", 0, false, [](Text, Options& o) { return set(o.detach); }, {Verb::call}},
    {"detach-after",
     0,
     true,
     [](Text v, Options& o) { return store_duration(v, o.detach_after.emplace()); },
     {Verb::call}},
    {"key", 0, true, [](Text v, Options& o) { return store_key(v, o.key); }, {Verb::call}},
    {"task", 0, false, [](Text, Options& o) { return set(o.task); }, {Verb::call}},
    {"all", 0, false, [](Text, Options& o) { return set(o.all); }, {Verb::grep}},
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
     {Verb::listen, Verb::monitor, Verb::record}},
    {"count",
     0,
     true,
     [](Text v, Options& o) { return store_number(v, o.count); },
     {Verb::listen, Verb::monitor, Verb::record}},
    {"since", 0, true, [](Text v, Options& o) { return store_number(v, o.since); }, {Verb::listen}},
    {"seq", 0, false, [](Text, Options& o) { return set(o.sequence); }, {Verb::listen}},
    {"skill", 0, false, [](Text, Options& o) { return set(o.skill); }, {Verb::agent_help}},
    {"yes", 0, false, [](Text, Options& o) { return set(o.yes); }, {Verb::approve}},
    {"follow", 'f', false, [](Text, Options& o) { return set(o.follow); }, {Verb::logs}},
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

}  // namespace

std::span<const OptionEntry> option_entries() { return option_table; }

bool may_stand_with(const OptionEntry& option, Verb verb) {
  if (option.verbs.size() == 0) return true;
  if (*option.verbs.begin() == every_verb) return verb != Verb::relay;
  return std::find(option.verbs.begin(), option.verbs.end(), verb) != option.verbs.end();
}

bool goes_with(std::string_view option, Verb verb) {
  const auto* const found =
      std::find_if(std::begin(option_table), std::end(option_table),
                   [option](const OptionEntry& entry) { return option.substr(2) == entry.name; });
  return found != std::end(option_table) && found->verbs.size() > 0 && may_stand_with(*found, verb);
}

}  // namespace client
