#pragma once

#include "json/json_object.hpp"
#include "system/files.hpp"

namespace client {

/// The two outputs of a verb. Results go to stdout, everything else to stderr; what a server wrote
/// reaches a terminal only with its control characters made visible. Once stdout is closed or
/// broken, further results are dropped and output_state() tells.
class Console {
 public:
  /// `interrupt` ends the wait for a stuck output; -1 or a descriptor, not owned.
  explicit Console(int interrupt = -1);
  ~Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  bool input_is_terminal() const { return input_is_terminal_; }
  bool output_is_terminal() const { return output_is_terminal_; }
  bool error_is_terminal() const { return error_is_terminal_; }
  /// Whether a person can be asked.
  bool can_ask() const { return input_is_terminal_ && error_is_terminal_; }

  /// Columns for text on stdout; 0 = no limit, if it is not a terminal.
  std::size_t output_width() const;
  std::size_t output_height() const;
  /// Columns of the terminal on stderr.
  std::size_t error_width() const;

  /// A result, with its line breaks.
  void print(std::string_view text);
  void print_line(std::string_view text) { print(std::string(text) += '\n'); }
  void print(const bridge::JsonObject& object) { print_line(object.text()); }
  /// From now on results are kept back until take_held().
  void hold() { holding_ = true; }
  /// What was kept back; results go out again from now on.
  std::string take_held();
  /// Our own control sequences and text that is safe already.
  void print_raw(std::string_view text);

  /// One message for a person on stderr: "mcp-nc: ...".
  void note(std::string_view message);
  /// The same, at a terminal only: that there is nothing to show.
  void remark(std::string_view message) {
    if (error_is_terminal_) note(message);
  }
  /// One line on stderr as the server wrote it (a notification).
  void pass_on(std::string_view line);
  /// Text on stderr that the cursor stays behind (a question). Made visible like all else.
  void prompt(std::string_view text);

  /// The one line on stderr that the next one overwrites; nothing is drawn if it is not a terminal.
  /// REQUIRES: safe for a terminal, no wider than it.
  void draw_transient(std::string_view line);
  void clear_transient();

  Sink::Result output_state() const { return output_state_; }
  /// The errno of a state of failed.
  int output_error() const { return output_error_; }

 private:
  void write_error(std::string_view text);

  Sink output_{1};
  Sink error_{2};
  int interrupt_;
  bool input_is_terminal_;
  bool output_is_terminal_;
  bool error_is_terminal_;
  bool transient_ = false;
  bool holding_ = false;
  std::string held_;
  Sink::Result output_state_ = Sink::Result::ok;
  int output_error_ = 0;
};

}  // namespace client
