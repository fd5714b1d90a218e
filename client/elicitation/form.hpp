#pragma once

#include <utility>
#include <variant>

#include "json/document.hpp"

namespace client {

/// One allowed value of an answer, as JSON, with the text shown to a person.
struct Choice {
  json::Value value;
  std::string title;
};

/// One property of an elicitation's requestedSchema.
struct Field {
  enum class Type { text, number, integer, boolean, list };

  std::string name;
  std::string title;
  std::string description;
  Type type = Type::text;
  bool required = false;
  std::vector<Choice> choices;  ///< empty: any value
  std::optional<json::Value> preset;
  std::optional<double> smallest;  ///< of a number; of a text its length; of a list its items
  std::optional<double> largest;
};

/// The fields in their order.
std::vector<Field> read_fields(const json::Value& requested_schema);

/// The text shown before the answer is typed: one or more lines, without a final line break.
std::string describe_field(const Field& field);

/// An answer as JSON; nullopt where an optional field is skipped.
using FieldAnswer = std::optional<std::string>;

/// Why an answer is invalid, for the person who typed it.
struct FieldRefusal {
  std::string why;
};

/// Converts what a person typed to JSON: an empty line is the default, or skips an optional field;
/// a choice is given by its number or by its value; a list is separated by commas.
std::variant<FieldAnswer, FieldRefusal> read_answer(const Field& field, std::string_view typed);

/// A server's question to a person (elicitation/create), asked field by field. Pure: its input are
/// the typed lines, its output the text to show.
class ElicitationForm {
 public:
  /// The meaning of the end of the input.
  enum class EndOfInput {
    cancels,  ///< no one else will be asked
    leaves,   ///< the question stays open, for later
  };

  /// Whose call the question is about.
  enum class Caller { own, another, unknown };

  /// nullopt if the params cannot be read.
  static std::optional<ElicitationForm> from_params(std::string_view params,
                                                    EndOfInput end = EndOfInput::cancels,
                                                    Caller caller = Caller::own);

  /// The first text to show; ends where the answer is typed.
  std::string begin() const;

  /// Takes a typed line without its line break, and returns the next text to show.
  std::string take(std::string_view line);

  /// The whole question as text with line breaks, for a person who cannot be asked here.
  std::string describe() const;
  /// The arguments after `mcp-nc answer JOB`, with a leading space: ` age=VALUE`, or ` '{}'`.
  std::string usage() const;

  /// Reports the end of the input.
  void end_of_input();

  bool done() const { return left_ || !action_.empty(); }
  /// Ended without an answer.
  bool was_left() const { return left_; }

  /// The JSON-RPC result. REQUIRES: done() and not was_left().
  std::string result() const;

 private:
  bool is_consent_only() const { return fields_.empty(); }
  std::string question() const;

  EndOfInput end_ = EndOfInput::cancels;
  Caller caller_ = Caller::own;
  bool left_ = false;
  std::string message_;
  std::string address_;  // of a question to be answered on a web page
  std::vector<Field> fields_;
  std::size_t current_ = 0;
  std::vector<std::pair<std::string, std::string>> answers_;  // name, JSON
  std::string action_;
};

/// Accepts a question of the server with values that were not typed at a terminal. `params` are
/// those of the elicitation/create, `values` a JSON object by field name. A text is converted as if
/// typed, by its field's type; other JSON stays unchanged. A field without a value gets its
/// default. Returns the JSON-RPC result. Pure.
std::variant<std::string, FieldRefusal> fill_form(std::string_view params, std::string_view values);

}  // namespace client
