#include "text/json_progress.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "text/ascii.hpp"
#include "text/bit_runs.hpp"
#include "text/json_block.hpp"
#include "text/json_scalar.hpp"
#include "text/utf8.hpp"

namespace bridge {
namespace {

/// What was read stays in the processor's cache for the next pass over it.
constexpr std::size_t step = 16u << 10;
static_assert(step % json_block == 0);

constexpr std::uint64_t even_bits = 0x5555'5555'5555'5555;

bool are_hex(const char* at, const char* end) {
  while (at != end && is_hex(*at)) ++at;
  return at == end;
}

/// Calls that with the place of each one, until it says false.
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

const Slice* CheckedJson::value_at(std::size_t position) const {
  const auto found =
      std::lower_bound(values.begin(), values.end(), position,
                       [](Slice value, std::size_t begin) { return value.begin < begin; });
  return found != values.end() && found->begin == position ? &*found : nullptr;
}

void JsonProgress::read_on(std::string_view text) {
  while (!failed_ && text.size() - position_ >= json_block) {
    const std::size_t blocks = std::min(text.size() - position_, step) / json_block;
    const std::size_t end = position_ + blocks * json_block;
    while (!failed_ && position_ < end) {
      // Where one block has no marks, those behind it have none most likely.
      if (in_string_ && !has_marks_ && !after_backslash_ && hex_digits_ == 0)
        position_ += blocks_.unmarked(text.data() + position_, end - position_);
      if (position_ == end) break;
      failed_ = !read_next_block(text, text.data() + position_);
      position_ += json_block;
    }
    failed_ = failed_ || !check_utf8(text.substr(0, end), false);
  }
}

std::optional<CheckedJson> JsonProgress::finish(std::string_view text) {
  read_on(text);
  if (failed_) return std::nullopt;
  // Behind the end of what is complete there may be spaces.
  std::array<char, json_block> rest;
  rest.fill(' ');
  text.copy(rest.data(), rest.size(), position_);
  if (!read_next_block(text, rest.data()) || !has_begun_ || containers_.depth() > 0 ||
      !check_utf8(text, true))
    return std::nullopt;
  std::sort(found_.values.begin(), found_.values.end(),
            [](Slice one, Slice other) { return one.begin < other.begin; });
  return std::move(found_);
}

/// `bytes` is the block at position_: it stands in the text, or is its end.
bool JsonProgress::read_next_block(std::string_view text, const char* bytes) {
#ifdef __x86_64__
  if (blocks_.is_avx2) return read_block_fast(text, bytes);
#endif
  return read_block<PlainBits>(text, bytes);
}

template <class Bits>
bool JsonProgress::read_block(std::string_view text, const char* bytes) {
  const JsonMarks marks = blocks_.marks(bytes);
  has_marks_ = (marks.quotes | marks.backslashes | marks.controls) != 0;
  std::uint64_t escaped = 0;
  if ((marks.backslashes != 0 || after_backslash_ || hex_digits_ != 0) &&
      !read_escapes(bytes, marks.backslashes, escaped))
    return false;
  const std::uint64_t quotes = marks.quotes & ~escaped;
  // With the quote that opens one, without the one that closes it.
  const std::uint64_t strings = Bits::between(quotes) ^ (in_string_ ? ~std::uint64_t{0} : 0);
  if (((marks.controls & strings) | (marks.backslashes & ~strings)) != 0) return false;
  if (in_string_ && quotes == 0) return true;
  in_string_ = (strings >> 63) != 0;
  const std::uint64_t closing = quotes & ~strings;
  if (in_noted_string_ && closing != 0) {
    note_value(string_begin_, position_ + static_cast<std::size_t>(std::countr_zero(closing)) + 1);
    in_noted_string_ = false;
  }
  return read_outside<Bits>(text, bytes, marks, strings, quotes);
}

/// What in a block is outside of strings, or begins one.
template <class Bits>
bool JsonProgress::read_outside(std::string_view text, const char* bytes, const JsonMarks& marks,
                                std::uint64_t strings, std::uint64_t quotes) {
  const JsonTokens found = blocks_.tokens(bytes);
  const std::uint64_t outside = ~strings;
  if (!found_.has_line_breaks) look_for_line_breaks(bytes, marks.controls & outside);
  Tokens tokens{.opening = found.opening & outside,
                .closing = found.closing & outside,
                .objects = found.objects,
                .colons = found.colons & outside,
                .commas = found.commas & outside,
                .strings = quotes & strings};
  const std::uint64_t scalars = ~(strings | quotes | found.spaces | tokens.all());
  std::uint64_t in_objects = 0;
  if (!read_scalars(text, bytes, scalars, tokens.scalars)) return false;
  if (tokens.all() == 0) return true;
  return read_brackets<Bits>(tokens, in_objects) && check_order(tokens, in_objects);
}

/// `controls` that are outside of strings.
void JsonProgress::look_for_line_breaks(const char* bytes, std::uint64_t controls) {
  found_.has_line_breaks =
      !each(controls, [bytes](std::size_t at) { return bytes[at] != '\n' && bytes[at] != '\r'; });
}

/// What stands behind backslashes. Of a run of them every second one is escaped; what follows the
/// run is, if their number is odd.
bool JsonProgress::read_escapes(const char* bytes, std::uint64_t backslashes,
                                std::uint64_t& escaped) {
  const std::size_t digits = std::exchange(hex_digits_, std::uint8_t{0});
  if (!are_hex(bytes, bytes + digits)) return false;
  escaped = std::exchange(after_backslash_, false) ? 1 : 0;
  const std::uint64_t runs = backslashes & ~escaped;
  const std::uint64_t begins = runs & ~(runs << 1);
  // Added to a run, its first bit moves to where the run has ended.
  const std::uint64_t from_even = (runs + (begins & even_bits)) & ~runs;
  std::uint64_t from_odd = 0;
  after_backslash_ = __builtin_add_overflow(runs, begins & ~even_bits, &from_odd);
  from_odd &= ~runs;
  escaped |= (from_even & ~even_bits) | (from_odd & even_bits);
  const JsonEscapes found = blocks_.escapes(bytes);
  return (escaped & ~found.characters) == 0 &&
         each(escaped & found.unicode, [&](std::size_t at) { return read_unicode(bytes, at + 1); });
}

/// Four hexadecimal digits, as far as they stand in this block.
bool JsonProgress::read_unicode(const char* bytes, std::size_t at) {
  const std::size_t end = std::min(at + 4, json_block);
  hex_digits_ = static_cast<std::uint8_t>(at + 4 - end);
  return are_hex(bytes + at, bytes + end);
}

/// Numbers and words, of which one may have begun before the block, and one not end in it.
bool JsonProgress::read_scalars(std::string_view text, const char* bytes, std::uint64_t scalars,
                                std::uint64_t& begins) {
  if (in_scalar_) {
    const auto length = static_cast<std::size_t>(std::countr_one(scalars));
    if (length == json_block) return true;
    if (!end_scalar(text, position_ + length)) return false;
    scalars &= ~std::uint64_t{0} << length;
  }
  begins = scalars & ~(scalars << 1);
  const auto length = static_cast<std::size_t>(std::countl_one(scalars));
  in_scalar_ = length > 0;
  if (in_scalar_) {
    const std::size_t begin = json_block - length;
    scalar_begin_ = position_ + begin;
    scalars &= (std::uint64_t{1} << begin) - 1;
  }
  return scalars == 0 || check_scalars(bytes, scalars);
}

/// Those that begin and end in a block: all together, but for words, and unless there are
/// exponents.
bool JsonProgress::check_scalars(const char* bytes, std::uint64_t scalars) const {
  const JsonNumbers found = blocks_.numbers(bytes);
  const std::uint64_t begins = scalars & ~(scalars << 1);
  const std::uint64_t words = begins & ~(found.digits | found.minuses);
  const auto text_at = [&](std::size_t at) {
    return std::string_view(bytes + at, static_cast<std::size_t>(std::countr_one(scalars >> at)));
  };
  if (!each(words, [&](std::size_t at) { return is_json_word(text_at(at)); })) return false;
  // Added to a word, its first bit moves to where the word has ended.
  const std::uint64_t numbers = scalars & (scalars + words);
  if ((numbers & ~(found.digits | found.dots | found.minuses)) != 0)
    return each(begins & ~words, [&](std::size_t at) { return is_json_scalar(text_at(at)); });
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
template <class Bits>
bool JsonProgress::read_brackets(const Tokens& tokens, std::uint64_t& in_objects) {
  const std::uint64_t all = tokens.all();
  if (containers_.depth() == 0) {
    const std::uint64_t first = all & (~all + 1);
    if (std::exchange(has_begun_, true) || (first & tokens.opening) == 0) return false;
  }
  // A copy, which the compiler can keep in registers.
  JsonContainers containers = containers_;
  std::uint64_t in_object = containers.in_object();
  in_objects = 0 - in_object;
  std::uint64_t changes = 0;
  for (std::uint64_t left = tokens.opening | tokens.closing; left != 0; left &= left - 1) {
    const auto at = static_cast<std::size_t>(std::countr_zero(left));
    const std::uint64_t bit = std::uint64_t{1} << at;
    const std::uint64_t is_object = tokens.objects >> at & 1;
    if ((tokens.opening & bit) != 0) {
      if (containers.depth() <= noted_depth) begins_[containers.depth()] = position_ + at;
      if (!containers.open(is_object, outer_containers_)) return false;
    } else {
      if (is_object != in_object) return false;
      containers.close(outer_containers_);
      if (containers.depth() <= noted_depth) {
        note_closed(position_ + at, containers);
        if (containers.depth() == 0 && (all & ~(bit | (bit - 1))) != 0) return false;
      }
    }
    const std::uint64_t before = std::exchange(in_object, containers.in_object());
    changes |= (before ^ in_object) << at;
  }
  containers_ = containers;
  in_objects ^= Bits::between(changes) << 1;
  return true;
}

/// Whether each token may stand behind the one before it (RFC 8259, sections 4 and 5).
bool JsonProgress::check_order(const Tokens& tokens, std::uint64_t in_objects) {
  const std::uint64_t gaps = ~tokens.all();
  const std::uint64_t behind_object_opening =
      next_behind(tokens.opening & tokens.objects, gaps, last_.object_opening);
  const std::uint64_t behind_array_opening =
      next_behind(tokens.opening & ~tokens.objects, gaps, last_.array_opening);
  const std::uint64_t behind_colon = next_behind(tokens.colons, gaps, last_.colon);
  const std::uint64_t behind_comma = next_behind(tokens.commas, gaps, last_.comma);
  const std::uint64_t keys = tokens.strings & (behind_object_opening | (behind_comma & in_objects));
  const std::uint64_t behind_key = next_behind(keys, gaps, last_.key);
  const std::uint64_t behind_value =
      next_behind((tokens.strings & ~keys) | tokens.scalars | tokens.closing, gaps, last_.value);
  const std::uint64_t values = tokens.strings | tokens.scalars | tokens.opening;
  const std::uint64_t wrong =
      (behind_object_opening & ~(tokens.strings | (tokens.closing & tokens.objects))) |
      (behind_array_opening & ~(values | (tokens.closing & ~tokens.objects))) |
      ((behind_colon | behind_comma) & ~values) | (behind_comma & in_objects & ~tokens.strings) |
      (behind_key ^ tokens.colons) | (behind_value & ~(tokens.commas | tokens.closing));
  if (wrong != 0) return false;
  // Within a block a string is not large.
  if (in_string_ && containers_.depth() <= noted_depth && tokens.strings != 0) {
    const auto at = static_cast<std::size_t>(63 - std::countl_zero(tokens.strings));
    in_noted_string_ = (behind_colon >> at & 1) != 0;
    string_begin_ = position_ + at;
  }
  return true;
}

/// A number or a word ends there.
bool JsonProgress::end_scalar(std::string_view text, std::size_t end) const {
  return is_json_scalar(text.substr(scalar_begin_, end - scalar_begin_));
}

/// Of what is not whole the end may be in the middle of a character.
bool JsonProgress::check_utf8(std::string_view text, bool is_whole) {
  std::size_t end = text.size();
  for (std::size_t back = 1; !is_whole && back <= 3 && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if (byte < 0x80) break;
    if (byte < 0xC0) continue;
    const std::size_t length = byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    if (length > back) end -= back;
    break;
  }
  const std::size_t begin = std::min(utf8_, end);
  utf8_ = end;
  return is_utf8(text.substr(begin, end - begin));
}

/// A container that began at no more than the noted depth ends there.
void JsonProgress::note_closed(std::size_t at, const JsonContainers& around) {
  if (around.depth() > 0 && around.in_object() != 0) note_value(begins_[around.depth()], at + 1);
}

void JsonProgress::note_value(std::size_t begin, std::size_t end) {
  if (end - begin >= large_value) found_.values.push_back({begin, end});
}

#ifdef __x86_64__

/// All of that in one, for processors that have AVX2 and what came with it.
[[gnu::target("avx2,bmi,bmi2,pclmul"), gnu::flatten]] bool JsonProgress::read_block_fast(
    std::string_view text, const char* bytes) {
  return read_block<FastBits>(text, bytes);
}

#endif

}  // namespace bridge
