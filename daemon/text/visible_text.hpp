#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace unicode {

/// Which characters of a peer's text are shown as escapes because they would be invisible, change
/// the order of the text, or look like something else. Pure, header-only: the daemon's log and the
/// client's terminal use the same table.
///
/// Always escaped: control characters (category Cc), line and paragraph separators, the characters
/// with Bidi_Control or Default_Ignorable_Code_Point in the Unicode Character Database, interlinear
/// annotations. These include the tag characters, although three flags consist of them: they can
/// hide any amount of text.
///
/// Shown unchanged, but only after a character that they belong to, since whole scripts and most
/// emoji need them: one joiner (U+200B to U+200D) after a letter of a script that uses them
/// (Arabic, the scripts of India and South-East Asia) or after a symbol, one variation selector
/// after a symbol, a digit or an ideograph, a Mongolian one after a Mongolian letter. So at most
/// one of them is hidden after each visible character, and none among Latin, Greek or Cyrillic
/// ones.

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

constexpr bool is_within(const Range* ranges, std::size_t count, std::uint32_t code_point) {
  for (std::size_t at = 0; at < count; ++at) {
    if (code_point >= ranges[at].first && code_point <= ranges[at].last) return true;
  }
  return false;
}

template <std::size_t Count>
constexpr bool is_within(const Range (&ranges)[Count], std::uint32_t code_point) {
  return is_within(ranges, Count, code_point);
}

constexpr bool is_control(std::uint32_t code_point) {
  return code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0);
}

constexpr Range always_hidden[] = {
    {0x00AD, 0x00AD},   {0x034F, 0x034F},   {0x061C, 0x061C},   {0x115F, 0x1160},
    {0x17B4, 0x17B5},   {0x200E, 0x200F},   {0x2028, 0x202E},   {0x2060, 0x206F},
    {0x3164, 0x3164},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFB},
    {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE00FF}, {0xE01F0, 0xE0FFF}};

constexpr Range symbols[] = {{0x2190, 0x21FF}, {0x2300, 0x23FF}, {0x25A0, 0x27BF},
                             {0x2900, 0x297F}, {0x2B00, 0x2BFF}, {0x1F000, 0x1FAFF}};
constexpr Range joining_scripts[] = {{0x0600, 0x109F}, {0x1780, 0x18AF},   {0x1A00, 0x1C7F},
                                     {0x1CD0, 0x1CFF}, {0xA840, 0xABFF},   {0xFB50, 0xFDFF},
                                     {0xFE70, 0xFEFC}, {0x10A00, 0x11FFF}, {0x1E900, 0x1E95F}};
constexpr Range ideographs[] = {
    {0x3400, 0x4DBF}, {0x4E00, 0x9FFF}, {0xF900, 0xFAFF}, {0x20000, 0x3FFFF}};
/// Emoji beyond the symbols; and other characters with standardised variants.
constexpr Range other_bases[] = {
    {'#', '#'},       {'*', '*'},       {'0', '9'},       {0x00A9, 0x00A9}, {0x00AE, 0x00AE},
    {0x1000, 0x109F}, {0x203C, 0x203C}, {0x2049, 0x2049}, {0x2122, 0x2122}, {0x2139, 0x2139},
    {0x2200, 0x22FF}, {0x3001, 0x3002}, {0x3030, 0x3030}, {0x303D, 0x303D}, {0x3297, 0x3299},
    {0xA840, 0xA877}, {0xFF01, 0xFF60}};

constexpr std::uint32_t emoji_style = 0xFE0F;
constexpr Range joiners = {0x200B, 0x200D};
constexpr Range variation_selectors[] = {{0xFE00, 0xFE0F}, {0xE0100, 0xE01EF}};
constexpr Range mongolian_selectors = {0x180B, 0x180F};
constexpr Range mongolian_letters = {0x1820, 0x18AA};

/// Classifies the characters of one text in order. Pure; a value.
class HiddenCharacters {
 public:
  /// Whether the next character of the text must be escaped. For bytes that are not a character: 0.
  constexpr bool hides(std::uint32_t code_point) {
    const bool hidden = judge(code_point);
    before_ = hidden ? 0 : code_point;
    return hidden;
  }

 private:
  constexpr bool judge(std::uint32_t code_point) const {
    if (code_point < 0xA0) return is_control(code_point);
    if (is_within(&joiners, 1, code_point)) {
      return !(
          is_within(symbols, before_) || before_ == emoji_style ||
          (is_within(joining_scripts, before_) && !is_within(&mongolian_selectors, 1, before_)));
    }
    if (is_within(variation_selectors, code_point)) {
      return !(is_within(symbols, before_) || is_within(ideographs, before_) ||
               is_within(other_bases, before_));
    }
    if (is_within(&mongolian_selectors, 1, code_point)) {
      return !is_within(&mongolian_letters, 1, before_);
    }
    return is_within(always_hidden, code_point);
  }

  std::uint32_t before_ = 0;  // the last one, if it was shown unchanged
};

/// As in JSON (RFC 8259, section 7): \u202e, and a pair of surrogates above U+FFFF.
inline void append_escape(std::string& out, std::uint32_t code_point) {
  const auto unit = [&out](std::uint32_t value) {
    constexpr char digits[] = "0123456789abcdef";
    out += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) out.push_back(digits[(value >> shift) & 0xF]);
  };
  switch (code_point) {
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  if (code_point < 0x10000) return unit(code_point);
  unit(0xD800 + ((code_point - 0x10000) >> 10));
  unit(0xDC00 + ((code_point - 0x10000) & 0x3FF));
}

}  // namespace unicode

namespace bridge {

/// The maximum lengths of text from a peer that is sent in a header.
namespace header_limit {
constexpr std::size_t protocol_version = 64;
constexpr std::size_t session_id = 1024;
constexpr std::size_t event_id = 1024;
constexpr std::size_t scope = 4096;
constexpr std::size_t url = 8192;
constexpr std::size_t token = 64u << 10;
}  // namespace header_limit

/// Whether blanks may be between the visible characters.
enum class Blanks { none, inside };

/// The one check for text from a peer that is sent in a header (or a request line): visible ASCII
/// (0x21 to 0x7E), at least one character and at most `limit`. So no line end, NUL or other control
/// character can split a request or end a string early (RFC 9110, section 5.5; for the session id
/// MCP 2025-11-25, "Session Management"). Pure.
constexpr bool fits_header(std::string_view said, std::size_t limit, Blanks blanks = Blanks::none) {
  if (said.empty() || said.size() > limit || said.front() == ' ' || said.back() == ' ')
    return false;
  for (const char c : said) {
    const bool is_visible = c > 0x20 && c < 0x7F;
    if (!is_visible && (c != ' ' || blanks == Blanks::none)) return false;
  }
  return true;
}

}  // namespace bridge

namespace bridge {

/// Makes text from a peer harmless for a terminal and a log: the characters that HiddenCharacters
/// hides (control characters, those that change the direction of text or are invisible) and bytes
/// that are not UTF-8 become visible escapes: \u001b, \u202e, \xff. In JSON text the escapes of
/// characters are valid JSON.
///
/// Works on a stream: a sequence cut off by the end of one piece is kept for the next.
class VisibleText {
 public:
  enum class Breaks { kept, escaped };  ///< line feed and tab
  explicit VisibleText(Breaks breaks = Breaks::kept) : breaks_(breaks) {}

  std::string feed(std::string_view piece);
  /// Returns what was kept; called at the end of the stream.
  std::string finish();

 private:
  Breaks breaks_;
  std::string kept_;  // at most 3 bytes
  unicode::HiddenCharacters hidden_;
};

/// Appends the same for a text in one piece, and on one line: line feed and tab become \n and \t.
void append_visible(std::string& out, std::string_view text);
std::string make_visible_line(std::string_view text);

/// The same; line feed and tab are kept.
std::string make_visible(std::string_view text);

}  // namespace bridge
