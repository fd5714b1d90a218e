#include "upstream/stdio/error_tail.hpp"

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "text/characters.hpp"
#include "text/trim.hpp"

namespace bridge {
namespace {

template <class Visit>
void each_line(std::string_view text, Visit&& visit) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    visit(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

bool names_secret(std::string_view name) {
  static constexpr std::string_view words[] = {"key",    "token",      "secret", "passw",
                                               "passwd", "credential", "auth"};
  const std::string lower = ascii_lower(name);
  return std::any_of(std::begin(words), std::end(words),
                     [&](std::string_view word) { return lower.find(word) != lower.npos; });
}

/// The value, and its last word: `Bearer TOKEN`.
void add_value(std::vector<std::string>& secrets, std::string_view value) {
  value = trimmed(value);
  if (value.empty()) return;
  secrets.emplace_back(value);
  const auto space = value.rfind(' ');
  if (space != value.npos) secrets.emplace_back(value.substr(space + 1));
}

/// `scheme://user:PASSWORD@host`
void add_password(std::vector<std::string>& secrets, std::string_view text) {
  const auto scheme = text.find("://");
  if (scheme == text.npos) return;
  text.remove_prefix(scheme + 3);
  text = text.substr(0, text.find_first_of("/?# "));
  const auto at = text.rfind('@');
  const auto colon = text.find(':');
  if (at == text.npos || colon > at) return;
  secrets.emplace_back(text.substr(colon + 1, at - colon - 1));
  secrets.emplace_back(text.substr(colon, at - colon + 1));  // a short one is searched for so
}

/// `NAME=VALUE` or `Name: value`; false if the name is not that of a secret.
bool add_named(std::vector<std::string>& secrets, std::string_view text) {
  const auto separator = text.find_first_of("=:");
  if (separator == text.npos || !names_secret(text.substr(0, separator))) return false;
  add_value(secrets, text.substr(separator + 1));
  return true;
}

}  // namespace

void ErrorTail::add(std::string_view line) {
  const std::string_view content = trimmed(line);
  if (content.empty() || content.starts_with("at ")) return;
  if (lines_.size() == lines) lines_.pop_front();
  lines_.emplace_back(content.substr(0, longest));
}

std::string ErrorTail::text() const {
  std::string all;
  for (const std::string& line : lines_) {
    if (!all.empty()) all += " | ";
    all += printable(line, shown);
  }
  return all;
}

SecretForms forms_in_lines(const std::vector<std::string>& secrets) {
  std::vector<std::string> parts;
  for (const std::string& secret : secrets) {
    parts.push_back(secret);
    each_line(secret, [&](std::string_view line) { parts.emplace_back(trimmed(line)); });
  }
  return SecretForms(std::move(parts));
}

std::vector<std::string> likely_secrets(const std::vector<std::string>& arguments,
                                        const std::vector<std::string>& environment) {
  std::vector<std::string> secrets;
  std::string_view previous;
  for (const std::string& argument : arguments) {
    const bool is_value = previous.starts_with('-') &&
                          previous.find_first_of("=:") == previous.npos && names_secret(previous);
    if (!add_named(secrets, argument) && is_value) add_value(secrets, argument);
    add_password(secrets, argument);
    previous = argument;
  }
  for (const std::string& variable : environment) {
    add_named(secrets, variable);
    add_password(secrets, variable);
  }
  return secrets;
}

}  // namespace bridge
