#include "text/columns.hpp"

#include <algorithm>

#include "text/characters.hpp"

namespace bridge {
namespace {

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

constexpr Range zero_width[] = {{0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD},
                                {0x0610, 0x061A}, {0x064B, 0x065F}, {0x0E31, 0x0E31},
                                {0x0E34, 0x0E3A}, {0x200B, 0x200F}, {0x20D0, 0x20F0},
                                {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}};

constexpr Range double_width[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x33FF},
                                  {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},
                                  {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE4F},
                                  {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F},
                                  {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};

template <std::size_t Size>
bool is_in(const Range (&ranges)[Size], std::uint32_t code_point) {
  for (const Range& range : ranges) {
    if (code_point >= range.first && code_point <= range.last) return true;
  }
  return false;
}

constexpr std::size_t narrowest = 20;  // of the text; a narrower terminal gets broken lines

class Wrapper {
 public:
  Wrapper(std::size_t indent, std::size_t room) : indent_(indent), room_(room) {}

  void word(std::string_view text) {
    while (!text.empty()) {
      const std::size_t width = display_width(text);
      const std::size_t gap = used_ > 0 ? 1 : 0;
      if (used_ + gap + width <= room_) {
        if (gap > 0) out_.push_back(' ');
        append(text, width + gap);
        return;
      }
      if (used_ > 0) {
        line();
        continue;
      }
      std::string_view part = fit_columns(text, room_);
      if (part.empty()) part = text;
      append(part, room_);
      text.remove_prefix(part.size());
    }
  }

  void line() {
    out_.push_back('\n');
    out_.append(indent_, ' ');
    used_ = 0;
  }

  std::string finish() {
    while (!out_.empty() && (out_.back() == ' ' || out_.back() == '\n')) out_.pop_back();
    return std::move(out_);
  }

 private:
  void append(std::string_view text, std::size_t columns) {
    out_ += text;
    used_ += columns;
  }

  std::string out_;
  std::size_t indent_;
  std::size_t room_;
  std::size_t used_ = 0;
};

}  // namespace

int column_width(std::uint32_t code_point) {
  if (code_point < zero_width[0].first) return 1;
  if (is_in(zero_width, code_point)) return 0;
  return is_in(double_width, code_point) ? 2 : 1;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const CodePoint point = first_code_point(text);
    width += point.state == CodePoint::State::valid
                 ? static_cast<std::size_t>(column_width(point.value))
                 : 1;
    text.remove_prefix(point.length);
  }
  return width;
}

std::string_view fit_columns(std::string_view text, std::size_t columns) {
  std::size_t length = 0;
  std::size_t used = 0;
  while (length < text.size()) {
    const CodePoint point = first_code_point(text.substr(length));
    const std::size_t width = point.state == CodePoint::State::valid
                                  ? static_cast<std::size_t>(column_width(point.value))
                                  : 1;
    if (used + width > columns) break;
    used += width;
    length += point.length;
  }
  return text.substr(0, length);
}

std::string wrap(std::string_view text, std::size_t indent, std::size_t width) {
  const std::size_t room = width == 0 ? std::string_view::npos / 2
                                      : std::max(narrowest, width - std::min(width, indent));
  Wrapper wrapper(indent, room);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \t\r\n"), text.size());
    wrapper.word(text.substr(0, end));
    if (end < text.size() && text[end] == '\n') wrapper.line();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return wrapper.finish();
}

}  // namespace bridge
