#pragma once

#include "json/json_object.hpp"
#include "system/files.hpp"

namespace client {

/// The two outputs of a verb. Results go to stdout, everything else to stderr; text of a server
/// reaches a terminal only with its control characters made visible. Once stdout is closed or
/// broken, further results are dropped, which output_state() reports.
class Console {
 public:
  /// `interrupt` ends the wait for a blocked output; -1 or a descriptor, not owned.
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

  /// Prints a result, with its line breaks; at a terminal a JSON object or list is laid out.
  void print(std::string_view text);
  void print_line(std::string_view text) { print(std::string(text) += '\n'); }
  void print(const bridge::JsonObject& object) { print_line(object.text()); }
  /// From now on results are held back until take_held().
  void hold() { holding_ = true; }
  /// Returns what was held back; later results are printed directly again.
  std::string take_held();
  /// Prints our own control sequences and text that is already safe.
  void print_raw(std::string_view text);

  /// Prints a message for a person on stderr: "mcp-nc: ...".
  void note(std::string_view message);
  /// The same, at a terminal only: for example that there is nothing to show.
  void remark(std::string_view message) {
    if (error_is_terminal_) note(message);
  }
  /// Prints one line on stderr as the server wrote it (a notification).
  void pass_on(std::string_view line);
  /// Prints text on stderr and leaves the cursor after it (a question). Made visible like all else.
  void prompt(std::string_view text);

  /// The one line on stderr that the next one overwrites; nothing is drawn if it is not a terminal.
  /// REQUIRES: safe for a terminal, no wider than it.
  void draw_transient(std::string_view line);
  void clear_transient();
  /// Begins a new line after the ^C that a terminal showed.
  void end_echo();

  Sink::Result output_state() const { return output_state_; }
  /// The errno of the state `failed`.
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
