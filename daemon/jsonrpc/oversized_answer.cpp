#include "jsonrpc/oversized_answer.hpp"

#include <fmt/format.h>

#include "text/json_scanner.hpp"
#include "text/json_text.hpp"

namespace bridge {
namespace {

/// What the members say that stand before the long one.
struct Beginning {
  bool is_answer = false;
  std::optional<std::uint64_t> id{};
};

Beginning read_beginning(std::string_view text) {
  Beginning found;
  JsonScanner scanner(text);
  scanner.skip_space();
  if (scanner.peek() != '{') return found;
  scanner.object([&](Slice key) {
    if (key_is(key.of(text), "result") || key_is(key.of(text), "error")) {
      found.is_answer = true;
      return false;
    }
    Slice value;
    if (!scanner.value(value)) return false;
    if (key_is(key.of(text), "id")) found.id = to_unsigned(value.of(text));
    return !key_is(key.of(text), "method");
  });
  return found;
}

void skip_space_at_end(std::string_view& text) {
  while (!text.empty() && std::string_view(" \t\r").find(text.back()) != std::string_view::npos)
    text.remove_suffix(1);
}

bool take_end(std::string_view& text, std::string_view end) {
  skip_space_at_end(text);
  if (!text.ends_with(end)) return false;
  text.remove_suffix(end.size());
  return true;
}

/// The value of `"id"` if that is the last member, or the last but for `jsonrpc`.
std::optional<std::uint64_t> read_end(std::string_view text) {
  if (!take_end(text, "}")) return std::nullopt;
  if (std::string_view without = text; take_end(without, R"("2.0")") && take_end(without, ":") &&
                                       take_end(without, R"("jsonrpc")") &&
                                       take_end(without, ",")) {
    text = without;
  }
  skip_space_at_end(text);
  const auto last_other = text.find_last_not_of("0123456789");
  if (last_other == text.npos) return std::nullopt;
  const std::string_view digits = text.substr(last_other + 1);
  text = text.substr(0, last_other + 1);
  if (!take_end(text, ":") || !take_end(text, R"("id")") || !take_end(text, ","))
    return std::nullopt;
  return to_unsigned(digits);
}

}  // namespace

std::optional<std::uint64_t> id_of_oversized_answer(std::string_view beginning,
                                                    std::string_view end) {
  const Beginning found = read_beginning(beginning);
  if (!found.is_answer) return std::nullopt;
  return found.id ? found.id : read_end(end);
}

Failure answer_too_large(std::size_t limit) {
  return failure_of(
      ErrorKind::too_large, Delivered::unknown,
      fmt::format("the upstream's answer is over the limit of {} bytes (--max-frame)", limit));
}

}  // namespace bridge
