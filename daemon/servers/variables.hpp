#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace bridge {

/// A `${…}` in a config file.
struct Variable {
  enum class Kind {
    input,        ///< `${input:ID}`
    environment,  ///< `${env:NAME}`, `${NAME}`, `${NAME:-default}`
    unknown,      ///< something an editor may know and the bridge does not
    unclosed,     ///< `${input:ID` or `${env:NAME` and no `}`: surely not meant as text
  };
  Kind kind = Kind::unknown;
  /// Of the unknown: all that stands between the braces; of the unclosed: what begins it, with the
  /// name, but nothing behind that.
  std::string name;
  /// Behind `:-`; may have variables in it. It lies in the text that was parsed.
  std::optional<std::string_view> otherwise{};
};

/// What stands between `${` and `}`. Pure.
Variable parse_variable(std::string_view text);

/// How deep variables may stand in the defaults of others.
constexpr std::size_t max_variable_depth = 32;
/// What all texts of a server may become together, in bytes: no more can be handed to a program.
constexpr std::size_t max_expanded = 2u << 20;

/// A text with its variables replaced, or why it cannot be had.
struct Expansion {
  enum class Fault {
    none,
    too_deep,  ///< more than max_variable_depth
    too_long,  ///< more than `most` bytes
  };
  std::string text;
  Fault fault = Fault::none;
};

/// `text` with each variable replaced by what `value_of` says; one without a value is left out. A
/// default is expanded too, if it is used: then `value_of` is not asked to have a value. Any other
/// `${` that is not closed is text, as a shell's may be.
///
/// Pure. Takes time in proportion to the text and to what it becomes, whatever is in it.
Expansion expand_variables(
    std::string_view text,
    const std::function<std::optional<std::string>(const Variable&)>& value_of,
    std::size_t most = max_expanded);

}  // namespace bridge
