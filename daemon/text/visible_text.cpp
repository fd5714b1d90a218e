#include "text/visible_text.hpp"

#include <algorithm>
#include <utility>

#include "text/characters.hpp"

namespace bridge {
namespace {

bool is_plain(char c) { return c >= 0x20 && c < 0x7F; }

}  // namespace

std::string VisibleText::feed(std::string_view piece) {
  std::string joined;
  if (!kept_.empty()) {
    joined = std::move(kept_).append(piece);
    kept_.clear();
    piece = joined;
  }
  std::string out;
  out.reserve(piece.size());
  while (!piece.empty()) {
    const CodePoint point = first_code_point(piece);
    if (point.state == CodePoint::State::truncated) {
      kept_ = piece;
      break;
    }
    const bool is_break = breaks_ == Breaks::kept && (point.value == '\n' || point.value == '\t');
    const bool is_hidden = hidden_.hides(point.value) && !is_break;
    if (point.state == CodePoint::State::invalid) {
      append_hex(out += "\\x", static_cast<unsigned char>(piece[0]));
    } else if (is_hidden) {
      unicode::append_escape(out, point.value);
    } else {
      out += piece.substr(0, point.length);
    }
    piece.remove_prefix(point.length);
  }
  return out;
}

std::string VisibleText::finish() {
  std::string out;
  for (const char byte : kept_) append_hex(out += "\\x", static_cast<unsigned char>(byte));
  kept_.clear();
  return out;
}

void append_visible(std::string& out, std::string_view text) {
  if (std::all_of(text.begin(), text.end(), [](char c) { return is_plain(c); })) {
    out += text;
    return;
  }
  VisibleText stream(VisibleText::Breaks::escaped);
  out += stream.feed(text);
  out += stream.finish();
}

std::string make_visible_line(std::string_view text) {
  std::string out;
  append_visible(out, text);
  return out;
}

std::string make_visible(std::string_view text) {
  VisibleText stream;
  std::string out = stream.feed(text);
  return out + stream.finish();
}

}  // namespace bridge
