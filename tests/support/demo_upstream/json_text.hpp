#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Raw slices of a JSON text. Values are located, not converted: echoed ones (ids, tokens, numbers
/// of any size) keep their bytes. The scanner only balances brackets and strings, so that a bare
/// word such as `$ID` may replace a value. An empty view means "absent".
namespace demo::json {

/// The only value in `text` without surrounding white space; empty if there is none or more.
std::string_view whole(std::string_view text);

/// The value of the first member of that name; `key` is compared without unescaping.
std::string_view member(std::string_view object, std::string_view key);

/// `member(member(object, a), b)` and so on.
std::string_view path(std::string_view object, std::initializer_list<std::string_view> keys);

/// Calls `visit(key, value)` for each member, `key` without its quotes.
void each_member(std::string_view object,
                 const std::function<void(std::string_view key, std::string_view value)>& visit);

/// The elements of an array.
std::vector<std::string_view> elements(std::string_view array);

/// The bytes between the quotes of a string, not unescaped; empty for anything else.
std::string_view inside(std::string_view value);

/// A string unescaped; any other value unchanged.
std::string text(std::string_view value);

std::int64_t integer(std::string_view value, std::int64_t fallback);
std::optional<double> number(std::string_view value);
bool is_true(std::string_view value);

/// As a JSON string. Invalid UTF-8 becomes U+FFFD.
std::string quoted(std::string_view plain);

/// Replaces every `name` in `text`.
std::string substituted(std::string text, std::string_view name, std::string_view value);

}  // namespace demo::json
