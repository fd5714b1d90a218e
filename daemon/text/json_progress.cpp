#include "text/json_progress.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "text/ascii.hpp"
#include "text/json_block.hpp"
#include "text/utf8.hpp"

namespace bridge {
namespace {

/// What was read stays in the processor's cache for the next pass over it.
constexpr std::size_t step = 16u << 10;
static_assert(step % json_block == 0);

constexpr std::uint64_t even_bits = 0x5555'5555'5555'5555;

/// What a character means behind a backslash.
enum class Escape : std::uint8_t { none, character, unicode };

constexpr std::array<Escape, 256> make_escapes() {
  std::array<Escape, 256> escapes{};
  for (const char c : {'"', '\\', '/', 'b', 'f', 'n', 'r', 't'})
    escapes[static_cast<unsigned char>(c)] = Escape::character;
  escapes['u'] = Escape::unicode;
  return escapes;
}

/// Bit i is whether an odd number of `bits` stands at or below it: what is between quotes.
constexpr std::uint64_t between(std::uint64_t bits) {
  for (unsigned shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

const char* after_digits(const char* at, const char* end) {
  while (at != end && is_digit(*at)) ++at;
  return at;
}

/// Whether these bytes are a number, or one of the three words.
bool is_scalar(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  if (*at == 't') return text == "true";
  if (*at == 'f') return text == "false";
  if (*at == 'n') return text == "null";
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

}  // namespace

/// What may come next.
enum class JsonProgress::State : std::uint8_t {
  text,       ///< an object or an array: nothing has come
  over,       ///< nothing
  first_key,  ///< or the end of the object
  key,
  colon,
  member,         ///< the value of one
  next_member,    ///< or the end of the object
  first_element,  ///< or the end of the array
  element,
  next_element,  ///< or the end of the array
  fault,
};

/// The grammar without its strings, numbers and words: which token may come in a state, and which
/// state follows. What follows a container is said by the one around it.
struct JsonProgress::Grammar {
  enum Token : std::uint8_t {
    scalar,
    string,
    open_object,
    close_object,
    open_array,
    close_array,
    colon,
    comma,
  };
  static constexpr std::size_t states = 11, tokens = 8;
  using Row = std::array<State, tokens>;

  static constexpr std::array<Row, states> make_next() {
    std::array<Row, states> next{};
    for (Row& row : next) row.fill(State::fault);
    const auto at = [&next](State state, Token token) -> State& {
      return next[static_cast<std::size_t>(state)][token];
    };
    at(State::text, open_object) = State::first_key;
    at(State::text, open_array) = State::first_element;
    for (const State state : {State::member, State::first_element, State::element}) {
      const State after = state == State::member ? State::next_member : State::next_element;
      at(state, scalar) = at(state, string) = after;
      at(state, open_object) = State::first_key;
      at(state, open_array) = State::first_element;
    }
    for (const State state : {State::first_key, State::key}) at(state, string) = State::colon;
    at(State::colon, colon) = State::member;
    at(State::next_member, comma) = State::key;
    at(State::next_element, comma) = State::element;
    for (const State state : {State::first_key, State::next_member})
      at(state, close_object) = State::over;
    for (const State state : {State::first_element, State::next_element})
      at(state, close_array) = State::over;
    return next;
  }

  static constexpr std::array<Token, 256> make_token_of() {
    std::array<Token, 256> token_of{};  // scalar
    token_of['"'] = string;
    token_of['{'] = open_object;
    token_of['}'] = close_object;
    token_of['['] = open_array;
    token_of[']'] = close_array;
    token_of[':'] = colon;
    token_of[','] = comma;
    return token_of;
  }
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
      if (in_string_ && !after_backslash_ && hex_digits_ == 0)
        position_ += blocks_.unmarked(text.data() + position_, end - position_);
      if (position_ == end) break;
      failed_ = !read_block(text, text.data() + position_);
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
  if (!read_block(text, rest.data()) || state_ != State::over || !check_utf8(text, true))
    return std::nullopt;
  std::sort(found_.values.begin(), found_.values.end(),
            [](Slice one, Slice other) { return one.begin < other.begin; });
  return std::move(found_);
}

/// `bytes` is the block at position_: it stands in the text, or is its end.
bool JsonProgress::read_block(std::string_view text, const char* bytes) {
  const JsonMarks marks = blocks_.marks(bytes);
  std::uint64_t escaped = 0;
  if ((marks.backslashes != 0 || after_backslash_ || hex_digits_ != 0) &&
      !read_escapes(bytes, marks.backslashes, escaped))
    return false;
  const std::uint64_t quotes = marks.quotes & ~escaped;
  // With the quote that opens one, without the one that closes it.
  const std::uint64_t strings = between(quotes) ^ (in_string_ ? ~std::uint64_t{0} : 0);
  if (((marks.controls & strings) | (marks.backslashes & ~strings)) != 0) return false;
  if (in_string_ && quotes == 0) return true;
  in_string_ = (strings >> 63) != 0;
  const std::uint64_t closing = quotes & ~strings;
  if (in_noted_string_ && closing != 0) {
    note_value(string_begin_, position_ + static_cast<std::size_t>(std::countr_zero(closing)) + 1);
    in_noted_string_ = false;
  }
  return read_outside(text, bytes, strings, quotes);
}

/// What in a block is outside of strings, or begins one.
bool JsonProgress::read_outside(std::string_view text, const char* bytes, std::uint64_t strings,
                                std::uint64_t quotes) {
  const JsonTokens found = blocks_.tokens(bytes);
  const std::uint64_t operators = found.operators & ~strings;
  const std::uint64_t scalars = ~(strings | quotes | operators | found.spaces);
  found_.has_line_breaks = found_.has_line_breaks || (found.line_breaks & ~strings) != 0;
  if (in_scalar_) {
    const auto length = static_cast<std::size_t>(std::countr_one(scalars));
    if (length < json_block && !end_scalar(text, position_ + length)) return false;
  }
  const std::uint64_t scalar_begins = scalars & ~((scalars << 1) | (in_scalar_ ? 1 : 0));
  in_scalar_ = (scalars >> 63) != 0;
  return read_tokens(text, bytes, operators | (quotes & strings) | scalar_begins, scalars,
                     quotes & ~strings);
}

/// What stands behind backslashes. Of a run of them every second one is escaped; what follows the
/// run is, if their number is odd.
bool JsonProgress::read_escapes(const char* bytes, std::uint64_t backslashes,
                                std::uint64_t& escaped) {
  const std::size_t digits = std::exchange(hex_digits_, std::uint8_t{0});
  if (!std::all_of(bytes, bytes + digits, is_hex)) return false;
  escaped = std::exchange(after_backslash_, false) ? 1 : 0;
  const std::uint64_t runs = backslashes & ~escaped;
  const std::uint64_t begins = runs & ~(runs << 1);
  // Added to a run, its first bit moves to where the run has ended.
  const std::uint64_t from_even = (runs + (begins & even_bits)) & ~runs;
  std::uint64_t from_odd = 0;
  after_backslash_ = __builtin_add_overflow(runs, begins & ~even_bits, &from_odd);
  from_odd &= ~runs;
  escaped |= (from_even & ~even_bits) | (from_odd & even_bits);
  static constexpr auto escapes = make_escapes();
  for (std::uint64_t left = escaped; left != 0; left &= left - 1) {
    const auto at = static_cast<std::size_t>(std::countr_zero(left));
    const Escape escape = escapes[static_cast<unsigned char>(bytes[at])];
    if (escape == Escape::character) continue;
    if (escape == Escape::none || !read_unicode(bytes, at + 1)) return false;
  }
  return true;
}

/// Four hexadecimal digits, as far as they stand in this block.
bool JsonProgress::read_unicode(const char* bytes, std::size_t at) {
  const std::size_t end = std::min(at + 4, json_block);
  hex_digits_ = static_cast<std::uint8_t>(at + 4 - end);
  return std::all_of(bytes + at, bytes + end, is_hex);
}

bool JsonProgress::read_tokens(std::string_view text, const char* bytes, std::uint64_t tokens,
                               std::uint64_t scalars, std::uint64_t closing) {
  static constexpr auto next = Grammar::make_next();
  static constexpr auto token_of = Grammar::make_token_of();
  State state = state_;
  for (; tokens != 0; tokens &= tokens - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(tokens));
    const Grammar::Token token = token_of[static_cast<unsigned char>(bytes[i])];
    const State before = state;
    state = next[static_cast<std::size_t>(state)][token];
    if (state == State::fault) return false;
    switch (token) {
      case Grammar::scalar: {
        scalar_begin_ = position_ + i;
        const auto length = static_cast<std::size_t>(std::countr_one(scalars >> i));
        if (i + length < json_block && !end_scalar(text, scalar_begin_ + length)) return false;
        break;
      }
      case Grammar::string:
        if (before == State::member && depth_ <= noted_depth) begin_string(i, closing);
        break;
      case Grammar::open_object:
      case Grammar::open_array:
        if (!open(position_ + i, token == Grammar::open_object)) return false;
        break;
      case Grammar::close_object:
      case Grammar::close_array:
        close(position_ + i);
        if (depth_ > 0) state = is_object_[depth_] ? State::next_member : State::next_element;
        break;
      case Grammar::colon:
      case Grammar::comma: break;
    }
  }
  state_ = state;
  return true;
}

/// A number or a word ends there.
bool JsonProgress::end_scalar(std::string_view text, std::size_t end) {
  return is_scalar(text.substr(scalar_begin_, end - scalar_begin_));
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

bool JsonProgress::open(std::size_t at, bool is_object) {
  if (depth_ <= noted_depth) begins_[depth_] = at;
  if (++depth_ > JsonScanner::max_depth) return false;
  is_object_[depth_] = is_object;
  return true;
}

void JsonProgress::close(std::size_t at) {
  --depth_;
  if (depth_ > 0 && depth_ <= noted_depth && is_object_[depth_])
    note_value(begins_[depth_], at + 1);
}

/// `closing`: the quotes in the block that close a string.
void JsonProgress::begin_string(std::size_t at, std::uint64_t closing) {
  string_begin_ = position_ + at;
  // Within a block it is not large.
  in_noted_string_ = (closing >> at) == 0;
}

void JsonProgress::note_value(std::size_t begin, std::size_t end) {
  if (end - begin >= large_value) found_.values.push_back({begin, end});
}

}  // namespace bridge
