#include "auth/challenge.hpp"

#include <algorithm>
#include <sstream>

#include "text/characters.hpp"
#include "text/header_text.hpp"

namespace bridge {

std::string joined_scopes(const std::string& first, const std::string& second) {
  std::vector<std::string> scopes;
  for (const std::string* part : {&first, &second}) {
    std::istringstream words(*part);
    for (std::string word; words >> word;) {
      if (std::find(scopes.begin(), scopes.end(), word) == scopes.end()) scopes.push_back(word);
    }
  }
  return scope_of(scopes);
}

bool has_scope(const std::string& scopes, std::string_view one) {
  for (std::size_t begin = 0; begin < scopes.size();) {
    const auto end = std::min(scopes.find(' ', begin), scopes.size());
    if (std::string_view(scopes).substr(begin, end - begin) == one) return true;
    begin = end + 1;
  }
  return false;
}

std::string scope_of(const std::vector<std::string>& scopes) {
  std::string text;
  for (const std::string& scope : scopes) text += (text.empty() ? "" : " ") + scope;
  return text;
}

namespace {

constexpr std::string_view tchar =
    "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::string_view blank = " \t";

/// Walks over the field. Whether a token begins a challenge or is a parameter's name shows only
/// by what follows it.
class ChallengeReader {
 public:
  explicit ChallengeReader(std::string_view text) : text_(text) {}

  std::vector<Challenge> read() {
    while (at_ < text_.size()) {
      skip(" \t,");
      if (at_ == text_.size()) break;
      item();
    }
    return std::move(challenges_);
  }

 private:
  void skip(std::string_view characters) {
    at_ = std::min(text_.find_first_not_of(characters, at_), text_.size());
  }
  void skip_item() {
    // A comma in a quoted string separates nothing.
    for (bool quoted = false; at_ < text_.size() && (quoted || text_[at_] != ','); ++at_) {
      if (text_[at_] == '"') quoted = !quoted;
      if (quoted && text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
    }
  }
  std::string_view token() {
    const auto end = std::min(text_.find_first_not_of(tchar, at_), text_.size());
    const std::string_view taken = text_.substr(at_, end - at_);
    at_ = end;
    return taken;
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void item() {
    const std::string_view name = token();
    if (name.empty()) {
      skip_item();
      return;
    }
    const auto after_name = at_;
    skip(blank);
    if (peek() == '=' && !challenges_.empty()) {
      parameter(name);
      return;
    }
    if (peek() == '=') {
      skip_item();
      return;
    }
    challenges_.push_back(Challenge{ascii_lower(name), {}, {}});
    if (at_ == after_name || peek() == ',' || peek() == '\0') return;
    first_of_challenge();
  }

  // What stands after the scheme: a token68 or the first parameter.
  void first_of_challenge() {
    const auto begin = at_;
    const std::string_view name = token();
    skip(blank);
    if (peek() == '=') {
      const auto equals = at_;
      at_ += 1;
      skip(blank);
      const bool has_value = peek() == '"' || tchar.find(peek()) != tchar.npos;
      at_ = equals;
      if (has_value && peek() != '\0' && !name.empty() && text_.substr(at_, 2) != "==") {
        parameter(name);
        return;
      }
    }
    at_ = begin;
    const auto end = std::min(text_.find_first_of(" \t,", at_), text_.size());
    challenges_.back().token68 = text_.substr(at_, end - at_);
    at_ = end;
    skip_item();
  }

  // The reader stands at the equals sign.
  void parameter(std::string_view name) {
    ++at_;
    skip(blank);
    std::string value;
    if (peek() != '"') {
      // More than a token allows: URLs are seen unquoted.
      const auto end = std::min(text_.find_first_of(" \t,\"", at_), text_.size());
      value = text_.substr(at_, end - at_);
      at_ = end;
    } else if (!quoted(value)) {
      return;
    }
    challenges_.back().parameters.emplace_back(ascii_lower(name), std::move(value));
    skip(blank);
  }

  bool quoted(std::string& value) {
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"') {
        ++at_;
        return true;
      }
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      value += text_[at_];
    }
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<Challenge> challenges_;
};

}  // namespace

std::string_view Challenge::parameter(std::string_view name) const {
  for (const auto& [key, value] : parameters) {
    if (key == name) return value;
  }
  return {};
}

std::vector<Challenge> parse_challenges(std::string_view field) {
  return ChallengeReader(field).read();
}

std::string bearer_parameter(const std::vector<Challenge>& challenges, std::string_view name) {
  for (const Challenge& challenge : challenges) {
    if (challenge.scheme != "bearer") continue;
    const std::string_view value = challenge.parameter(name);
    if (!value.empty()) return std::string(value);
  }
  return {};
}

std::string bearer_hint(const std::vector<Challenge>& challenges, std::string_view name) {
  std::string value = bearer_parameter(challenges, name);
  const bool fits = fits_header(value, header_limit::scope, Blanks::inside);
  return fits ? value : std::string();
}

}  // namespace bridge
