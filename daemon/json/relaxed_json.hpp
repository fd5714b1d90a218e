#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bridge {

/// JSON as editors write it, made strict: comments (`//…`, `/*…*/`), a comma behind the last member
/// or element and a byte order mark become white space. Everything keeps its place, so a position
/// in the result is one in `text`. Pure; what is no JSON otherwise stays as it is.
std::string strict_json(std::string_view text);

/// Reads a document that a person has written, part by part. Parts are views of the text that it
/// holds. Derived from by the reader of each kind of document, which says by fail() what it throws.
class DocumentReader {
 protected:
  explicit DocumentReader(std::string_view text) : text_(strict_json(text)) {}
  ~DocumentReader() = default;

  /// What is wrong with a part. Throws.
  [[noreturn]] virtual void fail(std::string_view part, const std::string& why) const = 0;

  std::string_view whole() const { return text_; }
  /// Where it is no JSON, from 1; 0: it is.
  std::size_t line_of_fault() const;
  std::size_t line_of(std::string_view part) const;

  using Members = std::vector<std::pair<std::string, std::string_view>>;
  /// Each name once. `complaint`: what is said of a part that is no object, or no list.
  Members members(std::string_view object, const std::string& complaint) const;
  std::vector<std::string_view> elements(std::string_view array,
                                         const std::string& complaint) const;

 private:
  std::size_t line_at(std::size_t position) const;

  const std::string text_;
};

}  // namespace bridge
