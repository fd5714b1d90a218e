#include "json/member_names.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>
#include <utility>

#include "json/json_scanner.hpp"
#include "json/json_text.hpp"
#include "text/characters.hpp"
#include "text/visible_text.hpp"

namespace bridge {
namespace {

// Eight bytes at a time, since every message has such texts: a high bit in the result for some byte
// if one of them is looked for.

using Eight = std::uint64_t;
constexpr Eight each_byte = 0x0101010101010101;
constexpr Eight high_bits = each_byte * 0x80;

constexpr Eight equal_to(Eight bytes, unsigned char byte) {
  const Eight zero_where_equal = bytes ^ (each_byte * byte);
  return (zero_where_equal - each_byte) & ~zero_where_equal;
}
/// Beyond ASCII, control characters, and backslashes.
constexpr Eight special(Eight bytes) {
  return (bytes | (bytes - each_byte * ' ') | equal_to(bytes, '\\') | equal_to(bytes, 0x7F)) &
         high_bits;
}
/// Those, and capital letters.
constexpr Eight special_or_capital(Eight bytes) {
  const Eight capital = (bytes + each_byte * (0x80 - 'A')) & ~(bytes + each_byte * (0x7F - 'Z'));
  return special(bytes) | (capital & high_bits);
}

template <class Look>
bool none(std::string_view text, Look&& look) {
  for (; text.size() >= sizeof(Eight); text.remove_prefix(sizeof(Eight))) {
    Eight bytes = 0;
    std::memcpy(&bytes, text.data(), sizeof bytes);
    if (look(bytes) != 0) return false;
  }
  Eight rest = each_byte * 'a';
  std::memcpy(&rest, text.data(), text.size());
  return look(rest) == 0;
}

/// Neither escapes nor characters that fold or are dropped: only the case of letters can differ.
bool is_plain(std::string_view raw) { return none(raw, special); }

/// Whether a parser may drop it from a text, a lone surrogate (which unescape() replaces) included.
bool is_dropped(std::uint32_t code) {
  constexpr std::uint32_t of_lone_surrogates = 0xFFFD;
  return code == of_lone_surrogates || unicode::is_control(code) ||
         unicode::is_within(unicode::always_hidden, code) ||
         unicode::is_within(unicode::variation_selectors, code) ||
         unicode::is_within(&unicode::joiners, 1, code);
}

/// The ASCII letter to which a character beyond ASCII folds, or which is its upper or lower case;
/// 0: none (Unicode Character Database, CaseFolding.txt and UnicodeData.txt).
char folded_letter(std::uint32_t code) {
  switch (code) {
    case 0x0130:
    case 0x0131: return 'i';
    case 0x017F: return 's';
    case 0x212A: return 'k';
    default: return '\0';
  }
}

std::string folded(std::string_view text) {
  std::string form;
  form.reserve(text.size());
  while (!text.empty()) {
    const CodePoint one = first_code_point(text);
    if (one.value < 0x80 || one.state != CodePoint::State::valid) {
      if (!is_dropped(one.value)) form.push_back(ascii_lower(text.front()));
    } else if (const char letter = folded_letter(one.value)) {
      form.push_back(letter);
    } else if (!is_dropped(one.value)) {
      form += text.substr(0, one.length);
    }
    text.remove_prefix(one.length);
  }
  return form;
}

/// How parsers may read one raw name. A view of plain names; a text of others.
class Readings {
 public:
  explicit Readings(std::string_view raw) : raw_(raw), is_plain_(is_plain(raw)) {
    if (is_plain_) return;
    const std::string text = unescape(raw);
    form_ = folded(text);
    const auto nul = text.find('\0');
    if (nul != text.npos) up_to_nul_ = folded(std::string_view(text).substr(0, nul));
  }
  /// `name` is ASCII.
  bool include(std::string_view name) const {
    if (is_plain_) return raw_.size() == name.size() && equal_ignoring_case(raw_, name);
    return equal_ignoring_case(form_, name) ||
           (!up_to_nul_.empty() && equal_ignoring_case(up_to_nul_, name));
  }
  bool include_any_form(std::string_view name) const {
    if (is_plain(name)) return include(name);
    const std::string form = folded(name);
    return is_plain_ ? ascii_lower(raw_) == form
                     : form_ == form || (!up_to_nul_.empty() && up_to_nul_ == form);
  }

 private:
  std::string_view raw_;
  bool is_plain_;
  std::string form_;
  std::string up_to_nul_;
};

}  // namespace

std::string lax_form(std::string_view raw) { return folded(unescape(raw)); }

bool is_similar_name(std::string_view raw, std::string_view name) {
  // Of plain names only those of the same length.
  if (raw.size() != name.size() && is_plain(raw) && is_plain(name)) return false;
  return !key_is(raw, name) && Readings(raw).include_any_form(name);
}

namespace {

/// The code unit of the \\u escape at the front; 0 for any other text.
std::uint32_t escaped_unit(std::string_view raw) {
  std::uint32_t unit = 0;
  if (raw.size() >= 6 && raw.starts_with("\\u"))
    std::from_chars(raw.data() + 2, raw.data() + 6, unit, 16);
  return unit;
}

/// The length of the escape at the front; 0 if its character is not clear.
std::size_t clear_escape(std::string_view raw) {
  if (raw[1] != 'u') return std::string_view("\"\\/").find(raw[1]) == raw.npos ? 0 : 2;
  const std::uint32_t unit = escaped_unit(raw);
  if (unit < 0xD800 || unit > 0xDFFF) return unicode::is_control(unit) ? 0 : 6;
  const std::uint32_t low = escaped_unit(raw.substr(6));
  return unit < 0xDC00 && low >= 0xDC00 && low <= 0xDFFF ? 12 : 0;
}

}  // namespace

bool is_clear_text(std::string_view raw) {
  if (is_plain(raw)) return true;
  while (!raw.empty()) {
    const CodePoint one = first_code_point(raw);
    if (unicode::is_control(one.value)) return false;
    const std::size_t length = raw.front() == '\\' ? clear_escape(raw) : one.length;
    if (length == 0) return false;
    raw.remove_prefix(length);
  }
  return true;
}

namespace {

/// Whether a plain name can equal one of param::names but for case, by its length and first letter:
/// few others can.
constexpr bool may_be_param(std::string_view raw) {
  constexpr auto masks = [] {
    std::pair<unsigned, unsigned> all{};
    for (const param::Named& one : param::names) {
      all.first |= 1u << one.name.size();
      all.second |= 1u << (one.name.front() & 31);
    }
    return all;
  }();
  return !raw.empty() && raw.size() < 32 && (masks.first >> raw.size() & 1) != 0 &&
         (masks.second >> (raw.front() & 31) & 1) != 0;
}

}  // namespace

param::Set param::similar(std::string_view raw) {
  if (!may_be_param(raw) && is_plain(raw)) return 0;
  const Readings readings(raw);
  Set found = 0;
  for (const Named& one : names) {
    if (readings.include(one.name)) found |= one.bit;
  }
  return found;
}

namespace {

/// A method, and what of its params the bridge acts on.
struct Method {
  std::string_view name;
  param::Set params = 0;
};

/// MCP 2025-11-25 and 2026-07-28, schema; the extensions for tasks and events.
constexpr Method methods[] = {
    {"tools/call", param::name | param::arguments | param::task},
    {"tools/list", param::cursor},
    {"prompts/get", param::name | param::arguments},
    {"prompts/list", param::cursor},
    {"resources/read", param::uri},
    {"resources/list", param::cursor},
    {"resources/templates/list", param::cursor},
    {"resources/subscribe", param::uri},
    {"resources/unsubscribe", param::uri},
    {"subscriptions/listen", param::notifications},
    {"completion/complete", param::ref},
    {"logging/setLevel", param::level},
    {"initialize"},
    {"ping"},
    {"server/discover"},
    {"events/stream"},
    {"tasks/get", param::task_id},
    {"tasks/result", param::task_id},
    {"tasks/update", param::task_id},
    {"tasks/cancel", param::task_id},
    {"tasks/list", param::cursor},
    {"elicitation/create"},
    {"sampling/createMessage"},
    {"roots/list"},
    {"notifications/cancelled", param::request_id},
    {"notifications/elicitation/complete"},
    {"notifications/initialized"},
    {"notifications/message", param::level},
    {"notifications/progress", param::progress_token},
    {"notifications/prompts/list_changed"},
    {"notifications/resources/list_changed"},
    {"notifications/resources/updated", param::uri},
    {"notifications/roots/list_changed"},
    {"notifications/subscriptions/acknowledged"},
    {"notifications/tasks", param::task_id},
    {"notifications/tasks/status", param::task_id},
    {"notifications/tools/list_changed"},
};

constexpr std::string_view own_prefix = "bridge/";

}  // namespace

param::Set param::acted_on(std::string_view method) {
  for (const Method& one : methods) {
    if (one.name == method) return one.params | of_all;
  }
  return of_all;
}

bool read_method(std::string_view raw, std::string& method) {
  const bool has_capital_spelling = raw == "logging/setlevel" || raw == "sampling/createmessage";
  if (none(raw, special_or_capital) && !has_capital_spelling) {
    method.assign(raw);
    return true;
  }
  if (!is_clear_text(raw)) return false;
  method = judged_method(unescape(raw));
  return true;
}

std::string judged_method(std::string method) {
  const bool folds = !is_plain(method);
  const std::string form = folds ? folded(method) : std::string();
  const std::string_view meant = folds ? std::string_view(form) : method;
  for (const Method& one : methods) {
    if (one.name.size() != meant.size() || !equal_ignoring_case(one.name, meant)) continue;
    if (one.name != method) method = one.name;
    return method;
  }
  if (equal_ignoring_case(meant.substr(0, own_prefix.size()), own_prefix))
    return ascii_lower(meant);
  return method;
}

}  // namespace bridge
