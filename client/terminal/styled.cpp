#include "terminal/styled.hpp"

#include <algorithm>

#include "terminal/utf8.hpp"
#include "terminal/visible.hpp"

namespace client {
namespace {

constexpr std::string_view reset = "\x1b[0m";

/// ECMA-48, "Select graphic rendition".
std::string_view sequence_of(Tone tone) {
  switch (tone) {
    case Tone::plain: break;
    case Tone::strong: return "\x1b[1m";
    case Tone::faint: return "\x1b[2m";
    case Tone::good: return "\x1b[32m";
    case Tone::warning: return "\x1b[33m";
    case Tone::bad: return "\x1b[31m";
  }
  return "";
}

bool is_set(const char* value) { return value != nullptr && *value != '\0'; }

/// The first that is set counts: locale(7).
bool names_utf8(const char* (*variable)(const char*)) {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const value = variable(name);
    if (!is_set(value)) continue;
    std::string locale(value);
    std::transform(locale.begin(), locale.end(), locale.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return locale.find("utf-8") != locale.npos || locale.find("utf8") != locale.npos;
  }
  return false;
}

}  // namespace

Look choose_look(bool is_terminal, std::size_t width, std::size_t height,
                 const char* (*variable)(const char*)) {
  Look look;
  if (!is_terminal) return look;
  const char* const terminal = variable("TERM");
  const bool is_dumb = !is_set(terminal) || std::string_view(terminal) == "dumb";
  look.colours = !is_dumb && !is_set(variable("NO_COLOR"));
  look.unicode = !is_dumb && names_utf8(variable);
  look.width = width;
  look.height = height;
  return look;
}

StyledLine& StyledLine::add(std::string_view text, Tone tone) {
  if (text.empty()) return *this;
  std::string visible = make_visible_line(text);
  width_ += display_width(visible);
  pieces_.push_back({std::move(visible), tone});
  return *this;
}

StyledLine& StyledLine::pad_to(std::size_t column) {
  return width_ < column ? add(std::string(column - width_, ' ')) : *this;
}

std::string StyledLine::draw(const Look& look) const {
  std::string line;
  std::size_t room = look.width > 0 ? look.width : width_;
  for (const Piece& piece : pieces_) {
    const std::string_view fitting = fit_columns(piece.text, room);
    room -= display_width(fitting);
    const std::string_view sequence = look.colours ? sequence_of(piece.tone) : "";
    line += sequence;
    line += fitting;
    if (!sequence.empty()) line += reset;
    if (fitting.size() < piece.text.size()) break;
  }
  const std::size_t end = line.find_last_not_of(' ');
  line.erase(end == line.npos ? 0 : end + 1);
  return line;
}

std::string draw_lines(const std::vector<StyledLine>& lines, const Look& look) {
  std::string text;
  for (const StyledLine& line : lines) text += line.draw(look) + "\n";
  return text;
}

}  // namespace client
