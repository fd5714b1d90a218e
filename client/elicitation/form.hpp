#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elicitation/field.hpp"

namespace client {

/// A server's question to a person (elicitation/create), asked field by field. Pure: it is fed the
/// lines that were typed and says what to show.
class ElicitationForm {
 public:
  /// Nothing if the params cannot be read.
  static std::optional<ElicitationForm> from_params(std::string_view params);

  /// What to show first; ends where the answer is typed.
  std::string begin() const;

  /// Takes a typed line without its line break, and returns what to show next.
  std::string take(std::string_view line);

  /// The person has ended the input: that is a cancel.
  void end_of_input() { action_ = "cancel"; }

  bool done() const { return !action_.empty(); }

  /// The JSON-RPC result. REQUIRES: done().
  std::string result() const;

 private:
  bool is_consent_only() const { return fields_.empty(); }
  std::string question() const;
  void accept() { action_ = "accept"; }

  std::string message_;
  std::string address_;  // of a question that is answered on a web page
  std::vector<Field> fields_;
  std::size_t current_ = 0;
  std::vector<std::pair<std::string, std::string>> answers_;  // name, JSON
  std::string action_;
};

}  // namespace client
