#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bridge {

/// Makes JSON as written in editors strict: comments (`//…`, `/*…*/`), a comma after the last
/// member or element and a byte order mark become white space. All positions stay the same. Pure;
/// text that is not JSON in another way stays as it is.
std::string strict_json(std::string_view text);

/// The place of a byte of `text`: `line 3, column 5`, both from 1, the column in characters. Pure.
std::string place_at(std::string_view text, std::size_t position);

/// Where `text` stops being JSON, as place_at(); "" if it is JSON. Pure.
std::string place_of_fault(std::string_view text);

/// Reads a document written by a person, part by part. Parts are views of the text that it holds.
/// Base class of the readers of each kind of document, whose fail() decides what is thrown.
class DocumentReader {
 protected:
  explicit DocumentReader(std::string_view text) : text_(strict_json(text)) {}
  ~DocumentReader() = default;

  /// Reports what is wrong with a part. Throws.
  [[noreturn]] virtual void fail(std::string_view part, const std::string& why) const = 0;

  std::string_view whole() const { return text_; }
  /// place_of_fault() of the whole.
  std::string place_of_fault() const { return bridge::place_of_fault(text_); }
  std::size_t line_of(std::string_view part) const;

  using Members = std::vector<std::pair<std::string, std::string_view>>;
  /// Each name once. `complaint`: the error for a part that is not an object, or not a list.
  Members members(std::string_view object, const std::string& complaint) const;
  std::vector<std::string_view> elements(std::string_view array,
                                         const std::string& complaint) const;

 private:
  std::size_t line_at(std::size_t position) const;

  const std::string text_;
};

}  // namespace bridge
