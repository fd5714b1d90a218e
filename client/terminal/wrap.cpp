#include "terminal/wrap.hpp"

#include <algorithm>

#include "terminal/utf8.hpp"

namespace client {
namespace {

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

}  // namespace client
