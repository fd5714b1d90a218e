#include "json/scan.hpp"

#include "json/text.hpp"

namespace client::json {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

/// Steps over JSON; every step says false where the grammar is broken, and `at` is then anywhere.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::size_t at() const { return at_; }
  bool at_end() const { return at_ == text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  std::string_view since(std::size_t start) const { return text_.substr(start, at_ - start); }

  void space() {
    while (!at_end() && is_space(text_[at_])) ++at_;
  }

  bool take(char wanted) {
    if (peek() != wanted || at_end()) return false;
    ++at_;
    return true;
  }

  bool string() {
    if (!take('"')) return false;
    while (!at_end()) {
      const char c = text_[at_++];
      if (c == '"') return true;
      if (static_cast<unsigned char>(c) < 0x20) return false;
      if (c == '\\' && !escape()) return false;
    }
    return false;
  }

  /// `"key" :`, with the key's span.
  bool key(std::string_view& found) {
    space();
    const std::size_t start = at_;
    if (!string()) return false;
    found = since(start);
    space();
    return take(':');
  }

  bool value() {
    std::string open;  // the brackets around `at`, innermost last
    std::string_view ignored;
    for (;;) {
      space();
      bool complete = true;
      if (take('{')) {
        space();
        if (!take('}')) {
          if (!key(ignored)) return false;
          open.push_back('}');
          complete = false;
        }
      } else if (take('[')) {
        space();
        if (!take(']')) {
          open.push_back(']');
          complete = false;
        }
      } else if (!scalar()) {
        return false;
      }
      while (complete && !open.empty()) {
        space();
        if (take(open.back())) {
          open.pop_back();
        } else if (take(',')) {
          if (open.back() == '}' && !key(ignored)) return false;
          complete = false;
        } else {
          return false;
        }
      }
      if (complete) return true;
    }
  }

 private:
  bool escape() {
    if (at_end()) return false;
    const char c = text_[at_++];
    if (c != 'u') return std::string_view("\"\\/bfnrt").find(c) != std::string_view::npos;
    for (int digit = 0; digit < 4; ++digit) {
      if (at_end() || !is_hex(text_[at_++])) return false;
    }
    return true;
  }

  bool scalar() {
    switch (peek()) {
      case '"': return string();
      case 't': return word("true");
      case 'f': return word("false");
      case 'n': return word("null");
      default: return number();
    }
  }

  bool word(std::string_view wanted) {
    if (text_.substr(at_, wanted.size()) != wanted) return false;
    at_ += wanted.size();
    return true;
  }

  bool digits() {
    if (!is_digit(peek())) return false;
    while (is_digit(peek())) ++at_;
    return true;
  }

  bool number() {
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      return digits();
    }
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

bool only_space_left(Scanner& scanner) {
  scanner.space();
  return scanner.at_end();
}

char first_character(std::string_view text) {
  const std::size_t at = text.find_first_not_of(" \t\r\n");
  return at == std::string_view::npos ? '\0' : text[at];
}

}  // namespace

bool is_valid(std::string_view text) {
  Scanner scanner(text);
  return scanner.value() && only_space_left(scanner);
}

std::optional<std::string_view> leading_value(std::string_view text) {
  Scanner scanner(text);
  scanner.space();
  const std::size_t start = scanner.at();
  if (!scanner.value()) return std::nullopt;
  return scanner.since(start);
}

std::optional<std::vector<RawMember>> members(std::string_view text) {
  std::vector<RawMember> found;
  Scanner scanner(text);
  scanner.space();
  if (!scanner.take('{')) return std::nullopt;
  scanner.space();
  if (!scanner.take('}')) {
    do {
      RawMember member;
      if (!scanner.key(member.key)) return std::nullopt;
      scanner.space();
      const std::size_t start = scanner.at();
      if (!scanner.value()) return std::nullopt;
      member.value = scanner.since(start);
      found.push_back(member);
      scanner.space();
    } while (scanner.take(','));
    if (!scanner.take('}')) return std::nullopt;
  }
  if (!only_space_left(scanner)) return std::nullopt;
  return found;
}

std::optional<std::vector<std::string_view>> elements(std::string_view text) {
  std::vector<std::string_view> found;
  Scanner scanner(text);
  scanner.space();
  if (!scanner.take('[')) return std::nullopt;
  scanner.space();
  if (!scanner.take(']')) {
    do {
      scanner.space();
      const std::size_t start = scanner.at();
      if (!scanner.value()) return std::nullopt;
      found.push_back(scanner.since(start));
      scanner.space();
    } while (scanner.take(','));
    if (!scanner.take(']')) return std::nullopt;
  }
  if (!only_space_left(scanner)) return std::nullopt;
  return found;
}

std::optional<std::string_view> member(std::string_view object, std::string_view name) {
  const auto all = members(object);
  if (!all) return std::nullopt;
  for (const RawMember& candidate : *all) {
    if (decode_string(candidate.key) == name) return candidate.value;
  }
  return std::nullopt;
}

bool is_object(std::string_view valid_json) { return first_character(valid_json) == '{'; }
bool is_array(std::string_view valid_json) { return first_character(valid_json) == '['; }
bool is_string(std::string_view valid_json) { return first_character(valid_json) == '"'; }

}  // namespace client::json
