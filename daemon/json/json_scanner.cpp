#include "json/json_scanner.hpp"

#include <bitset>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "json/json_text.hpp"
#include "text/characters.hpp"

namespace bridge {
namespace {

/// How many bytes from `begin` are plain inside a string: no quote, backslash or control character.
std::size_t plain_run(const char* begin, const char* end) {
  const char* at = begin;
#ifdef __SSE2__
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  const __m128i last_control = _mm_set1_epi8(0x1f);
  while (end - at >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, last_control), bytes);
    const __m128i special = _mm_or_si128(
        control, _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)));
    const unsigned mask = static_cast<unsigned>(_mm_movemask_epi8(special));
    if (mask != 0)
      return static_cast<std::size_t>(at - begin) + static_cast<std::size_t>(__builtin_ctz(mask));
    at += 16;
  }
#endif
  while (at < end && *at != '"' && *at != '\\' && static_cast<unsigned char>(*at) >= 0x20) ++at;
  return static_cast<std::size_t>(at - begin);
}

}  // namespace

void JsonScanner::skip_spaces() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r') return;
    ++position_;
  }
}

bool JsonScanner::string(Slice& raw) {
  if (!expect('"')) return false;
  raw.begin = position_;
  const char* const end = text_.data() + text_.size();
  for (;;) {
    position_ += plain_run(text_.data() + position_, end);
    if (at_end()) return fail(JsonFault::syntax);
    const char c = text_[position_];
    if (c == '"') {
      raw.end = position_++;
      return true;
    }
    if (c != '\\' || !escape()) return fail(JsonFault::syntax);
  }
}

bool JsonScanner::escape() {
  ++position_;  // the backslash
  if (at_end()) return false;
  const char c = text_[position_++];
  if (c != 'u') {
    switch (c) {
      case '"':
      case '\\':
      case '/':
      case 'b':
      case 'f':
      case 'n':
      case 'r':
      case 't': return true;
      default: return false;
    }
  }
  if (text_.size() - position_ < 4) return false;
  for (int i = 0; i < 4; ++i) {
    if (!is_hex(text_[position_++])) return false;
  }
  return true;
}

bool JsonScanner::number() {
  take('-');
  if (!take('0')) {
    if (!is_digit(peek())) return fail(JsonFault::syntax);
    while (is_digit(peek())) ++position_;
  }
  if (take('.')) {
    if (!is_digit(peek())) return fail(JsonFault::syntax);
    while (is_digit(peek())) ++position_;
  }
  if (take('e') || take('E')) {
    if (!take('+')) take('-');
    if (!is_digit(peek())) return fail(JsonFault::syntax);
    while (is_digit(peek())) ++position_;
  }
  return true;
}

bool JsonScanner::literal(std::string_view word) {
  if (text_.substr(position_, word.size()) != word) return fail(JsonFault::syntax);
  position_ += word.size();
  return true;
}

bool JsonScanner::scalar() {
  Slice ignored;
  switch (peek()) {
    case '"': return string(ignored);
    case 't': return literal("true");
    case 'f': return literal("false");
    case 'n': return literal("null");
    default: return number();
  }
}

bool JsonScanner::value(Slice& raw) {
  raw.begin = position_;
  const char first = peek();
  const bool taken = (first == '{' || first == '[') ? containers() : scalar();
  raw.end = position_;
  return taken;
}

// Takes a container and all that is in it, with one bit per level instead of recursion.
bool JsonScanner::containers() {
  std::bitset<max_depth + 1> is_object;
  const std::size_t outside = open_depth_;
  Slice key;
  for (;;) {
    // A value starts here.
    skip_space();
    const char c = peek();
    bool complete = true;
    if (c == '{' || c == '[') {
      if (!enter(c)) return false;
      is_object[open_depth_] = c == '{';
      skip_space();
      if (take(c == '{' ? '}' : ']')) {
        leave();
      } else {
        if (c == '{') {
          if (!string(key)) return false;
          skip_space();
          if (!expect(':')) return false;
        }
        complete = false;
      }
    } else if (!scalar()) {
      return false;
    }
    // A value is complete: closes what it ends, and continues with what follows.
    while (complete) {
      if (open_depth_ == outside) return true;
      skip_space();
      const bool in_object = is_object[open_depth_];
      if (take(',')) {
        if (in_object) {
          skip_space();
          if (!string(key)) return false;
          skip_space();
          if (!expect(':')) return false;
        }
        complete = false;
      } else {
        if (!expect(in_object ? '}' : ']')) return false;
        leave();
      }
    }
  }
}

bool escaped_key_is(std::string_view raw_key, std::string_view name) {
  if (raw_key.find('\\') == std::string_view::npos) return false;
  if (raw_key.size() > name.size() * 6) return false;  // \uXXXX is the longest spelling of a byte
  return unescape(raw_key) == name;
}

}  // namespace bridge
