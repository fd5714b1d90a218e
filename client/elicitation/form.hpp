#pragma once

#include <utility>
#include <variant>

#include "json/document.hpp"

namespace client {

/// One value that an allowed answer can take, as JSON, with what a person is shown for it.
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
  std::vector<Choice> choices;  ///< empty = anything
  std::optional<json::Value> preset;
  std::optional<double> smallest;  ///< of a number; of a text its length; of a list its items
  std::optional<double> largest;
};

/// The fields in the order they stand.
std::vector<Field> read_fields(const json::Value& requested_schema);

/// What to show before the answer is typed, one or more lines and no line break at the end.
std::string describe_field(const Field& field);

/// An answer as JSON; nothing where an optional field is skipped.
using FieldAnswer = std::optional<std::string>;

/// Why an answer cannot be taken, for the person who typed it.
struct FieldRefusal {
  std::string why;
};

/// Makes JSON of what a person typed: an empty line is the default, or skips an optional field; a
/// choice may be given by its number or by its value; a list is separated by commas.
std::variant<FieldAnswer, FieldRefusal> read_answer(const Field& field, std::string_view typed);

/// A server's question to a person (elicitation/create), asked field by field. Pure: it is fed the
/// lines that were typed and says what to show.
class ElicitationForm {
 public:
  /// What it means that the person has ended the input.
  enum class EndOfInput {
    cancels,  ///< nobody else is going to be asked
    leaves,   ///< the question stays where it is, for later
  };

  /// Whose call the server asks about.
  enum class Caller { own, another, unknown };

  /// Nothing if the params cannot be read.
  static std::optional<ElicitationForm> from_params(std::string_view params,
                                                    EndOfInput end = EndOfInput::cancels,
                                                    Caller caller = Caller::own);

  /// What to show first; ends where the answer is typed.
  std::string begin() const;

  /// Takes a typed line without its line break, and returns what to show next.
  std::string take(std::string_view line);

  /// The whole question as text with line breaks, for a person who cannot be asked here.
  std::string describe() const;
  /// What is typed behind `mcp-nc answer JOB`, with a space before it: ` age=VALUE`, or ` '{}'`.
  std::string usage() const;

  /// The person has ended the input.
  void end_of_input();

  bool done() const { return left_ || !action_.empty(); }
  /// Done without an answer.
  bool was_left() const { return left_; }

  /// The JSON-RPC result. REQUIRES: done() and not was_left().
  std::string result() const;

 private:
  bool is_consent_only() const { return fields_.empty(); }
  std::string question() const;
  void accept() { action_ = "accept"; }

  EndOfInput end_ = EndOfInput::cancels;
  Caller caller_ = Caller::own;
  bool left_ = false;
  std::string message_;
  std::string address_;  // of a question that is answered on a web page
  std::vector<Field> fields_;
  std::size_t current_ = 0;
  std::vector<std::pair<std::string, std::string>> answers_;  // name, JSON
  std::string action_;
};

/// Accepts a question of the server with values from elsewhere than a terminal. `params` are those
/// of the elicitation/create, `values` a JSON object of field names. A text is read as one that was
/// typed, by its field's type; other JSON stays as it is. A field without value has its default.
/// Gives the JSON-RPC result. Pure.
std::variant<std::string, FieldRefusal> fill_form(std::string_view params, std::string_view values);

}  // namespace client
