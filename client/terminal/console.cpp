#include "terminal/console.hpp"
#include "json/document.hpp"
#include "terminal/styled.hpp"
#include "text/visible_text.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>

namespace client {
namespace {

constexpr unsigned short usual_columns = 80;
constexpr unsigned short usual_rows = 24;

winsize size_of(int descriptor) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0) size = winsize{};
  if (size.ws_col == 0) size.ws_col = usual_columns;
  if (size.ws_row == 0) size.ws_row = usual_rows;
  return size;
}

}  // namespace

Console::Console(int interrupt)
    : interrupt_(interrupt),
      input_is_terminal_(::isatty(0) == 1),
      output_is_terminal_(::isatty(1) == 1),
      error_is_terminal_(::isatty(2) == 1) {}

Console::~Console() { clear_transient(); }

std::size_t Console::output_width() const { return output_is_terminal_ ? size_of(1).ws_col : 0; }

std::size_t Console::output_height() const { return size_of(1).ws_row; }

std::size_t Console::error_width() const { return size_of(2).ws_col; }

void Console::print(std::string_view text) {
  if (holding_) {
    held_ += text;
    return;
  }
  if (output_is_terminal_) {
    clear_transient();
    std::string shown = bridge::make_visible(text);
    const bool may_be_json = text.starts_with('{') || text.starts_with('[');
    if (may_be_json && json::is_json(text)) shown = pretty_json(shown, look_of(*this));
    print_raw(shown);
  } else {
    print_raw(text);
  }
}

std::string Console::take_held() {
  holding_ = false;
  return std::exchange(held_, {});
}

void Console::print_raw(std::string_view text) {
  if (output_state_ != Sink::Result::ok) return;
  output_state_ = output_.write_all(text, interrupt_);
  if (output_state_ == Sink::Result::failed) output_error_ = errno;
}

void Console::note(std::string_view message) {
  clear_transient();
  write_error("mcp-nc: " + bridge::make_visible_line(message) + "\n");
}

void Console::pass_on(std::string_view line) {
  clear_transient();
  std::string text = error_is_terminal_ ? bridge::make_visible(line) : std::string(line);
  text.push_back('\n');
  write_error(text);
}

void Console::prompt(std::string_view text) {
  clear_transient();
  write_error(bridge::make_visible(text));
}

void Console::draw_transient(std::string_view line) {
  if (!error_is_terminal_) return;
  write_error(fmt::format("\r{}\x1b[K", line));
  transient_ = true;
}

void Console::clear_transient() {
  if (!transient_) return;
  transient_ = false;
  write_error("\r\x1b[K");
}

void Console::end_echo() {
  if (transient_) return clear_transient();
  if (error_is_terminal_) write_error("\n");
}

void Console::write_error(std::string_view text) {
  // A broken stderr cannot be reported.
  static_cast<void>(error_.write_all(text, interrupt_));
}

}  // namespace client
