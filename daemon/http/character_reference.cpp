#include "http/character_reference.hpp"

#include <algorithm>
#include <array>

namespace bridge {
namespace {

constexpr std::uint32_t no_character = 0xFFFD;
constexpr std::uint32_t beyond_unicode = 0x110000;

/// U+00A0 to U+00FF in their order.
constexpr std::array<std::string_view, 96> latin_1 = {
    "nbsp",   "iexcl",  "cent",   "pound",  "curren", "yen",    "brvbar", "sect",   "uml",
    "copy",   "ordf",   "laquo",  "not",    "shy",    "reg",    "macr",   "deg",    "plusmn",
    "sup2",   "sup3",   "acute",  "micro",  "para",   "middot", "cedil",  "sup1",   "ordm",
    "raquo",  "frac14", "frac12", "frac34", "iquest", "Agrave", "Aacute", "Acirc",  "Atilde",
    "Auml",   "Aring",  "AElig",  "Ccedil", "Egrave", "Eacute", "Ecirc",  "Euml",   "Igrave",
    "Iacute", "Icirc",  "Iuml",   "ETH",    "Ntilde", "Ograve", "Oacute", "Ocirc",  "Otilde",
    "Ouml",   "times",  "Oslash", "Ugrave", "Uacute", "Ucirc",  "Uuml",   "Yacute", "THORN",
    "szlig",  "agrave", "aacute", "acirc",  "atilde", "auml",   "aring",  "aelig",  "ccedil",
    "egrave", "eacute", "ecirc",  "euml",   "igrave", "iacute", "icirc",  "iuml",   "eth",
    "ntilde", "ograve", "oacute", "ocirc",  "otilde", "ouml",   "divide", "oslash", "ugrave",
    "uacute", "ucirc",  "uuml",   "yacute", "thorn",  "yuml"};

struct Named {
  std::string_view name;
  std::uint32_t code_point;
};

constexpr Named others[] = {
    {"amp", '&'},       {"AMP", '&'},       {"lt", '<'},        {"LT", '<'},
    {"gt", '>'},        {"GT", '>'},        {"quot", '"'},      {"QUOT", '"'},
    {"apos", '\''},     {"lsquo", 0x2018},  {"rsquo", 0x2019},  {"sbquo", 0x201A},
    {"ldquo", 0x201C},  {"rdquo", 0x201D},  {"bdquo", 0x201E},  {"lsaquo", 0x2039},
    {"rsaquo", 0x203A}, {"ndash", 0x2013},  {"mdash", 0x2014},  {"hellip", 0x2026},
    {"bull", 0x2022},   {"dagger", 0x2020}, {"permil", 0x2030}, {"prime", 0x2032},
    {"euro", 0x20AC},   {"trade", 0x2122},  {"larr", 0x2190},   {"uarr", 0x2191},
    {"rarr", 0x2192},   {"darr", 0x2193},   {"minus", 0x2212},  {"ne", 0x2260},
    {"le", 0x2264},     {"ge", 0x2265},     {"check", 0x2713},  {"ensp", 0x2002},
    {"emsp", 0x2003},   {"thinsp", 0x2009}, {"COPY", 0x00A9},   {"REG", 0x00AE},
    {"OElig", 0x0152},  {"oelig", 0x0153},  {"Scaron", 0x0160}, {"scaron", 0x0161}};

/// What Windows-1252 has where Unicode has the controls U+0080 to U+009F; 0: the control itself.
constexpr std::array<std::uint16_t, 32> windows_1252 = {
    0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

/// Of a digit to that base; the base if it is none.
std::uint32_t digit_of(char c, std::uint32_t base) {
  if (c >= '0' && c <= '9') return static_cast<std::uint32_t>(c - '0');
  if (base == 16 && c >= 'a' && c <= 'f') return static_cast<std::uint32_t>(c - 'a') + 10;
  if (base == 16 && c >= 'A' && c <= 'F') return static_cast<std::uint32_t>(c - 'A') + 10;
  return base;
}

std::uint32_t character_of(std::uint32_t number) {
  if (number == 0 || number >= beyond_unicode) return no_character;
  if (number >= 0xD800 && number <= 0xDFFF) return no_character;
  if (number < 0x80 || number > 0x9F) return number;
  const std::uint32_t meant = windows_1252[number - 0x80];
  return meant == 0 ? number : meant;
}

/// `text` begins with "&#".
std::optional<CharacterReference> read_number(std::string_view text) {
  std::size_t at = 2;
  const bool is_hexadecimal = at < text.size() && (text[at] == 'x' || text[at] == 'X');
  const std::uint32_t base = is_hexadecimal ? 16 : 10;
  if (is_hexadecimal) ++at;
  const std::size_t first = at;
  std::uint32_t number = 0;
  for (; at < text.size() && digit_of(text[at], base) < base; ++at) {
    number = std::min(number * base + digit_of(text[at], base), beyond_unicode);
  }
  if (at == first) return std::nullopt;
  if (at < text.size() && text[at] == ';') ++at;
  return CharacterReference{character_of(number), at};
}

}  // namespace

std::optional<CharacterReference> read_character_reference(std::string_view text) {
  if (!text.starts_with('&')) return std::nullopt;
  if (text.starts_with("&#")) return read_number(text);
  constexpr std::size_t longest_name = 6;
  const std::size_t end = text.substr(0, longest_name + 2).find(';');
  if (end == text.npos) return std::nullopt;
  const std::string_view name = text.substr(1, end - 1);
  for (std::size_t at = 0; at < latin_1.size(); ++at) {
    if (latin_1[at] == name) {
      return CharacterReference{static_cast<std::uint32_t>(0xA0 + at), end + 1};
    }
  }
  for (const Named& one : others) {
    if (one.name == name) return CharacterReference{one.code_point, end + 1};
  }
  return std::nullopt;
}

}  // namespace bridge
