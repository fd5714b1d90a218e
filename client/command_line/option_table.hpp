#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "command_line/options.hpp"

namespace client {

/// Why a value cannot be used; nothing if it can.
using Refusal = std::optional<std::string>;

/// An option as it stands on the command line, without its dashes.
struct OptionEntry {
  std::string_view name;
  char letter;  // 0 = none
  bool takes_value;
  Refusal (*store)(std::string_view value, Options& options);
  std::initializer_list<Verb> verbs;  // empty = all, and the relay
};

/// Alone in an option's list: all verbs, but not the relay, which is none.
constexpr Verb every_verb = Verb::relay;

/// Whether it may stand with this verb.
bool may_stand_with(const OptionEntry& option, Verb verb);

/// All there are.
std::span<const OptionEntry> option_entries();

}  // namespace client
