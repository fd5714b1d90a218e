// How JsonProgress reads a block: all of it is compiled into one function for each instruction
// set.
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "json/json_block_kinds.hpp"
#include "json/json_progress.hpp"
#include "text/characters.hpp"

namespace bridge {
namespace {

/// Whether these bytes are one of JSON's three words.
bool is_json_word(std::string_view text) {
  const auto begins = [text](const char(&word)[5]) {
    return std::memcmp(text.data(), word, 4) == 0;
  };
  if (text.size() == 4) return begins("true") || begins("null");
  return text.size() == 5 && begins("fals") && text[4] == 'e';
}

/// Where the words that begin at these bytes of a block (json/json_block.hpp) end, after their last
/// byte; none for other text. REQUIRES: five bytes of each are in the block.
std::uint64_t ends_of_json_words(const char* bytes, std::uint64_t begins) {
  std::uint64_t ends = 0;
  for (; begins != 0; begins &= begins - 1) {
    const auto at = static_cast<std::size_t>(std::countr_zero(begins));
    std::array<char, 5> text;
    std::memcpy(text.data(), bytes + at, text.size());
    const auto is = [&text](const char(&word)[5]) {
      return std::memcmp(text.data(), word, 4) == 0 ? std::uint64_t{1} : 0;
    };
    const std::uint64_t is_false = is("fals") & (text[4] == 'e' ? 1 : 0);
    ends |= ((is("true") | is("null")) << 4 | is_false << 5) << at;
  }
  return ends;
}

/// Returns the end of the digits that start here.
const char* after_digits(const char* at, const char* end) {
  while (at != end && is_digit(*at)) ++at;
  return at;
}

/// Whether these bytes are a JSON number, or one of the three words (RFC 8259, sections 3 and 6).
/// REQUIRES: not empty.
bool is_json_scalar(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  if (*at == 't' || *at == 'f' || *at == 'n') return is_json_word(text);
  if (*at == '-') ++at;
  if (at == end || !is_digit(*at)) return false;
  at = *at == '0' ? at + 1 : after_digits(at, end);
  if (at != end && *at == '.') {
    const char* const digits = at + 1;
    if ((at = after_digits(digits, end)) == digits) return false;
  }
  if (at != end && (*at == 'e' || *at == 'E')) {
    const char* digits = at + 1;
    if (digits != end && (*digits == '+' || *digits == '-')) ++digits;
    if ((at = after_digits(digits, end)) == digits) return false;
  }
  return at == end;
}

constexpr std::uint64_t even_bits = 0x5555'5555'5555'5555;
constexpr std::uint64_t all_bits = ~std::uint64_t{0};

/// Calls check() with the position of each bit, until it returns false.
template <class Check>
bool each(std::uint64_t bits, Check&& check) {
  for (; bits != 0; bits &= bits - 1) {
    if (!check(static_cast<std::size_t>(std::countr_zero(bits)))) return false;
  }
  return true;
}

}  // namespace

struct JsonProgress::Tokens {
  std::uint64_t opening = 0;
  std::uint64_t closing = 0;
  std::uint64_t objects = 0;  ///< of these two, those of objects
  std::uint64_t colons = 0;
  std::uint64_t commas = 0;
  std::uint64_t strings = 0;
  std::uint64_t scalars = 0;  ///< numbers and words

  std::uint64_t all() const { return opening | closing | colons | commas | strings | scalars; }
};

/// Reads `size` bytes, whole blocks, of which the first one is at position_: they are in the text,
/// or are a copy of its end.
bool JsonProgress::read_blocks(std::string_view text, const char* bytes, std::size_t size) {
  switch (code_) {
#ifdef __x86_64__
    case VectorCode::avx2: return read_blocks_avx2(text, bytes, size);
    case VectorCode::sse2: return read_blocks_with<Sse2Blocks>(text, bytes, size);
#endif
    default: return read_blocks_with<PlainBlocks>(text, bytes, size);
  }
}

template <class Blocks>
bool JsonProgress::read_blocks_with(std::string_view text, const char* bytes, std::size_t size) {
  for (const char* const end = bytes + size; bytes != end; bytes += json_block) {
    if (string_.may_be_long()) {
      const std::size_t unmarked =
          Blocks::unmarked(bytes, static_cast<std::size_t>(end - bytes), beyond_ascii_);
      position_ += unmarked;
      bytes += unmarked;
      if (bytes == end) break;
    }
    if (!read_block<Blocks>(text, bytes)) return false;
    position_ += json_block;
  }
  return true;
}

template <class Blocks>
bool JsonProgress::read_block(std::string_view text, const char* bytes) {
  const JsonMarks marks = Blocks::marks(bytes);
  string_.has_marks = (marks.quotes | marks.backslashes | marks.controls) != 0;
  beyond_ascii_ |= marks.beyond_ascii;
  std::uint64_t escaped = 0;
  if ((marks.backslashes != 0 || string_.is_in_escape()) &&
      !read_escapes<Blocks>(bytes, marks.backslashes, escaped))
    return false;
  const std::uint64_t quotes = marks.quotes & ~escaped;
  // Includes the opening quote, not the closing one.
  const std::uint64_t strings = Blocks::Bits::between(quotes) ^ (string_.is_open ? all_bits : 0);
  if (((marks.controls & strings) | (marks.backslashes & ~strings)) != 0) return false;
  if (string_.is_open && quotes == 0) return true;
  const bool was_open = std::exchange(string_.is_open, (strings >> 63) != 0);
  if (was_open && token_begin_ != none) {
    const auto closing = static_cast<std::size_t>(std::countr_zero(quotes));
    note_value(std::exchange(token_begin_, none), position_ + closing + 1);
  }
  return read_outside<Blocks>(text, bytes, marks, strings, quotes);
}

/// Reads what is outside strings in a block, or starts one.
template <class Blocks>
bool JsonProgress::read_outside(std::string_view text, const char* bytes, const JsonMarks& marks,
                                std::uint64_t strings, std::uint64_t quotes) {
  const JsonTokens found = Blocks::tokens(bytes);
  const std::uint64_t outside = ~strings;
  if (!found_.has_line_breaks && (marks.controls & outside) != 0)
    look_for_line_breaks(bytes, marks.controls & outside);
  Tokens tokens{.opening = found.opening & outside,
                .closing = found.closing & outside,
                .objects = found.objects,
                .colons = found.colons & outside,
                .commas = found.commas & outside,
                .strings = quotes & strings};
  const std::uint64_t scalars = ~(strings | quotes | found.spaces | tokens.all());
  std::uint64_t in_objects = 0;
  if (!read_scalars<Blocks>(text, bytes, scalars, tokens.scalars)) return false;
  if (tokens.all() == 0) return true;
  return read_brackets(tokens, in_objects) && check_order(tokens, in_objects);
}

/// `controls`: those outside strings.
[[gnu::noinline]] void JsonProgress::look_for_line_breaks(const char* bytes,
                                                          std::uint64_t controls) {
  found_.has_line_breaks =
      !each(controls, [bytes](std::size_t at) { return bytes[at] != '\n' && bytes[at] != '\r'; });
}

/// Reads what follows backslashes. Of a run of them every second one is escaped; the byte after the
/// run is escaped if their number is odd.
template <class Blocks>
bool JsonProgress::read_escapes(const char* bytes, std::uint64_t backslashes,
                                std::uint64_t& escaped) {
  escaped = std::exchange(string_.after_backslash, false) ? 1 : 0;
  const std::uint64_t runs = backslashes & ~escaped;
  const std::uint64_t begins = runs & ~(runs << 1);
  // The addition moves the first bit of a run to its end.
  const std::uint64_t from_even = (runs + (begins & even_bits)) & ~runs;
  std::uint64_t from_odd = 0;
  string_.after_backslash = __builtin_add_overflow(runs, begins & ~even_bits, &from_odd);
  from_odd &= ~runs;
  escaped |= (from_even & ~even_bits) | (from_odd & even_bits);
  const JsonEscapes found = Blocks::escapes(bytes);
  if ((escaped & ~found.characters) != 0) return false;
  const std::uint64_t unicode = escaped & found.unicode;
  if ((unicode | string_.hex_wanted) == 0) return true;
  // Four digits must follow each.
  const std::uint64_t wanted =
      string_.hex_wanted | unicode << 1 | unicode << 2 | unicode << 3 | unicode << 4;
  string_.hex_wanted = unicode >> 63 | unicode >> 62 | unicode >> 61 | unicode >> 60;
  return (wanted & ~Blocks::hex_digits(bytes)) == 0;
}

/// Reads numbers and words; one may have started before the block, and one may not end in it.
template <class Blocks>
bool JsonProgress::read_scalars(std::string_view text, const char* bytes, std::uint64_t scalars,
                                std::uint64_t& begins) {
  if (token_begin_ != none) {
    const auto length = static_cast<std::size_t>(std::countr_one(scalars));
    if (length == json_block) return true;
    if (!end_scalar(text, position_ + length)) return false;
    token_begin_ = none;
    scalars &= ~std::uint64_t{0} << length;
  }
  begins = scalars & ~(scalars << 1);
  const auto length = static_cast<std::size_t>(std::countl_one(scalars));
  if (length > 0) {
    const std::size_t begin = json_block - length;
    token_begin_ = position_ + begin;
    scalars &= (std::uint64_t{1} << begin) - 1;
  }
  return scalars == 0 || check_scalars<Blocks>(bytes, scalars);
}

/// Checks those that start and end in a block: all together, unless there are exponents. None of
/// them touches the block's end.
template <class Blocks>
bool JsonProgress::check_scalars(const char* bytes, std::uint64_t scalars) {
  const JsonNumbers found = Blocks::numbers(bytes);
  const std::uint64_t begins = scalars & ~(scalars << 1);
  const std::uint64_t words = begins & ~(found.digits | found.minuses);
  // The addition moves the first bit of a word to its end.
  const std::uint64_t ended = scalars + words;
  constexpr std::uint64_t too_late = all_bits << (json_block - 4);
  if ((words & too_late) != 0 || ends_of_json_words(bytes, words) != (ended & ~scalars))
    return false;
  const std::uint64_t numbers = scalars & ended;
  if ((numbers & ~(found.digits | found.dots | found.minuses)) != 0) {
    return each(begins & ~words, [&](std::size_t at) {
      const auto length = static_cast<std::size_t>(std::countr_one(scalars >> at));
      return is_json_scalar(std::string_view(bytes + at, length));
    });
  }
  const std::uint64_t digits = found.digits & numbers;
  const std::uint64_t dots = found.dots & numbers;
  const std::uint64_t minuses = found.minuses & numbers;
  const std::uint64_t first = (minuses << 1) | (begins & numbers & ~minuses);
  const std::uint64_t behind_fractions = ((dots << 1) + digits) & ~digits;
  const std::uint64_t wrong = (minuses & ~begins) | (first & ~digits) |
                              ((first & found.zeros) << 1 & digits) | (dots & ~(digits << 1)) |
                              ((dots << 1) & ~digits) | (behind_fractions & dots);
  return wrong == 0;
}

/// Opens and closes containers. `in_objects`: which bytes of the block are directly in an object.
bool JsonProgress::read_brackets(const Tokens& tokens, std::uint64_t& in_objects) {
  return containers_.open.change(tokens.opening | tokens.closing, tokens.opening, tokens.objects,
                                 Containers::noted_depth + 1, in_objects) ||
         read_outer_brackets(tokens, in_objects);
}

/// For containers to be recorded, and for very deep or invalid ones.
[[gnu::noinline]] bool JsonProgress::read_outer_brackets(const Tokens& tokens,
                                                         std::uint64_t& in_objects) {
  const std::uint64_t all = tokens.all();
  JsonContainers& open = containers_.open;
  if (open.depth() == 0) {
    const std::uint64_t first = all & (~all + 1);
    if (std::exchange(containers_.has_begun, true) || (first & tokens.opening) == 0) return false;
  }
  const JsonContainers before = open;
  std::uint64_t behind = 0;
  const bool good = each(tokens.opening | tokens.closing, [&](std::size_t at) {
    const std::uint64_t bit = std::uint64_t{1} << at;
    const std::uint64_t is_object = tokens.objects >> at & 1;
    if ((tokens.opening & bit) != 0) {
      if (containers_.is_noted()) containers_.begins[open.depth()] = position_ + at;
      if (!open.open(is_object, containers_.outer)) return false;
    } else {
      if (is_object != open.in_object()) return false;
      open.close(containers_.outer);
      if (containers_.is_noted()) note_closed(position_ + at);
      if (open.depth() == 0 && (all & ~(bit | (bit - 1))) != 0) return false;
    }
    behind |= open.in_object() << at;
    return true;
  });
  in_objects = before.spread(behind, tokens.opening | tokens.closing);
  return good;
}

/// Whether each token may follow the one before it (RFC 8259, sections 4 and 5).
bool JsonProgress::check_order(const Tokens& tokens, std::uint64_t in_objects) {
  const std::uint64_t gaps = ~tokens.all();
  const std::uint64_t behind_opening = next_behind(tokens.opening, gaps, last_.opening);
  const std::uint64_t behind_comma = next_behind(tokens.commas, gaps, last_.comma);
  const std::uint64_t behind_colon = next_behind(tokens.colons, gaps, last_.colon);
  const std::uint64_t begin_of_member = (behind_opening | behind_comma) & in_objects;
  const std::uint64_t keys = tokens.strings & begin_of_member;
  const std::uint64_t behind_key = next_behind(keys, gaps, last_.key);
  const std::uint64_t due = behind_opening | behind_comma | behind_colon;
  const std::uint64_t values = tokens.strings | tokens.scalars | tokens.opening;
  const std::uint64_t wrong =
      (values & ~due) | (tokens.commas & due) | (tokens.closing & (behind_comma | behind_colon)) |
      (begin_of_member & (tokens.scalars | tokens.opening)) | (behind_key ^ tokens.colons);
  if (wrong != 0) return false;
  // A string within one block is not large.
  if (string_.is_open && containers_.is_noted() && tokens.strings != 0) {
    const auto at = static_cast<std::size_t>(63 - std::countl_zero(tokens.strings));
    if ((behind_colon >> at & 1) != 0) token_begin_ = position_ + at;
  }
  return true;
}

/// A number or a word ends at `end`.
[[gnu::noinline]] bool JsonProgress::end_scalar(std::string_view text, std::size_t end) const {
  return is_json_scalar(text.substr(token_begin_, end - token_begin_));
}

/// A container that started at the noted depth or above ends at `at`.
void JsonProgress::note_closed(std::size_t at) {
  const JsonContainers& around = containers_.open;
  if (around.depth() > 0 && around.in_object() != 0)
    note_value(containers_.begins[around.depth()], at + 1);
}

[[gnu::noinline]] void JsonProgress::note_value(std::size_t begin, std::size_t end) {
  if (end - begin >= large_value) found_.values.push_back({begin, end});
}

#ifdef __x86_64__

// All of the above in one function, for processors with these instructions.

[[gnu::target("avx2,bmi,bmi2,pclmul"), gnu::flatten]] bool JsonProgress::read_blocks_avx2(
    std::string_view text, const char* bytes, std::size_t size) {
  return read_blocks_with<Avx2Blocks>(text, bytes, size);
}

#endif

}  // namespace bridge
