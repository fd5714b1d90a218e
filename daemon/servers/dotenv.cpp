#include "servers/dotenv.hpp"

#include <algorithm>
#include <cctype>

#include "json/relaxed_json.hpp"
#include "text/characters.hpp"
#include "text/trim.hpp"
#include "text/utf8.hpp"

namespace bridge {
namespace {

bool is_in_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-';
}

class DotenvReader {
 public:
  explicit DotenvReader(std::string_view text) : text_(text) {}

  /// The next variable; false at the end, or on a fault.
  bool next(std::string& name, std::string& value) {
    for (;;) {
      skip(" \t\r\n");
      if (at_ == text_.size()) return false;
      if (text_[at_] != '#') break;
      at_ = std::min(text_.find('\n', at_), text_.size());
    }
    if (text_.substr(at_).starts_with("export") && at_ + 6 < text_.size() &&
        (text_[at_ + 6] == ' ' || text_[at_ + 6] == '\t')) {
      at_ += 6;
      skip(" \t");
    }
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_in_name(text_[at_])) ++at_;
    name = text_.substr(begin, at_ - begin);
    skip(" \t");
    if (name.empty() || at_ == text_.size() || text_[at_] != '=') return fail();
    ++at_;
    skip(" \t");
    value.clear();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    return quote == '"' || quote == '\'' || quote == '`' ? quoted(quote, value) : plain(value);
  }

  bool has_failed() const { return has_failed_; }
  std::size_t position() const { return at_; }

 private:
  void skip(std::string_view spaces) {
    at_ = std::min(text_.find_first_not_of(spaces, at_), text_.size());
  }
  bool fail() {
    has_failed_ = true;
    return false;
  }
  bool plain(std::string& value) {
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    std::string_view line = text_.substr(at_, end - at_);
    for (std::size_t at = 0; (at = line.find('#', at)) != line.npos; ++at) {
      if (at > 0 && line[at - 1] != ' ' && line[at - 1] != '\t') continue;
      line = line.substr(0, at);
      break;
    }
    value = trimmed(line);
    at_ = end;
    return true;
  }
  bool quoted(char quote, std::string& value) {
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      char c = text_[at_];
      if (c == '\\' && quote == '"' && at_ + 1 < text_.size()) {
        c = text_[++at_];
        if (c == 'n') c = '\n';
        if (c == 'r') c = '\r';
        if (c == 't') c = '\t';
        if (std::string_view("\n\r\t\"\\$").find(c) == std::string_view::npos) value += '\\';
      }
      value += c;
    }
    if (at_ == text_.size()) return fail();
    ++at_;
    skip(" \t\r");
    if (at_ == text_.size() || text_[at_] == '\n') return true;
    if (text_[at_] != '#') return fail();
    at_ = std::min(text_.find('\n', at_), text_.size());
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool has_failed_ = false;
};

}  // namespace

std::map<std::string, std::string> read_dotenv(std::string_view text, std::string& fault) {
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  std::map<std::string, std::string> all;
  if (!is_utf8(text) || text.find('\0') != text.npos) {
    fault = "not UTF-8";
    return all;
  }
  DotenvReader reader(text);
  std::string name;
  std::string value;
  while (reader.next(name, value)) all[name] = value;
  if (reader.has_failed()) fault = "no NAME=value at " + place_at(text, reader.position());
  return all;
}

}  // namespace bridge
