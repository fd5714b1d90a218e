#pragma once

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
  std::optional<std::string> otherwise{};  ///< behind `:-`; may have variables in it
};

/// What stands between `${` and `}`. Pure.
Variable parse_variable(std::string_view text);

/// `text` with each variable replaced by what `value_of` says; one without a value is left out. A
/// default is expanded too, if it is used: then `value_of` is not asked to have a value. Any other
/// `${` that is not closed is text, as a shell's may be. Pure.
std::string expand_variables(
    std::string_view text,
    const std::function<std::optional<std::string>(const Variable&)>& value_of);

}  // namespace bridge
