#include "terminal/visible.hpp"

#include <fmt/format.h>

#include "terminal/utf8.hpp"

namespace client {
namespace {

std::string invalid_byte(char byte) {
  return fmt::format("\\x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(byte)));
}

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
    const bool is_hidden = hidden_.hides(point.value);
    if (point.state == CodePoint::State::invalid) {
      out += invalid_byte(piece[0]);
    } else if (is_hidden && point.value != '\n' && point.value != '\t') {
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
  for (const char byte : kept_) out += invalid_byte(byte);
  kept_.clear();
  return out;
}

std::string make_visible(std::string_view text) {
  VisibleText stream;
  std::string out = stream.feed(text);
  return out + stream.finish();
}

std::string make_visible_line(std::string_view text) {
  std::string out;
  for (const char c : make_visible(text)) {
    if (c == '\n' || c == '\t') {
      unicode::append_escape(out, static_cast<unsigned char>(c));
    } else {
      out.push_back(c);
    }
  }
  return out;
}

}  // namespace client
