#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bridge {

/// Whether two secrets are equal, in a time that does not depend on where they differ. Their
/// lengths are not secret.
inline bool equal_in_constant_time(std::string_view left, std::string_view right) {
  if (left.size() != right.size()) return false;
  volatile unsigned char difference = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    difference = static_cast<unsigned char>(
        difference | (static_cast<unsigned char>(left[i]) ^ static_cast<unsigned char>(right[i])));
  }
  return difference == 0;
}

/// Whether without_grants() has to look at it.
bool may_have_grants(std::string_view text);
/// `text` with `***` behind each `mcpg_` that more letters follow: the strings of grants, however
/// JSON or a URI spells them.
std::string without_grants(std::string text);

/// `text` without_grants() and with `***` in place of each of `forms`, whether plain or as part of
/// a JSON string, however that encodes its characters. REQUIRES: long forms first, none
/// empty.
std::string blotted(std::string text, const std::vector<std::string>& forms);

/// Known secrets in the forms in which a text may contain them: plain, percent-encoded, and inside
/// Base64 (of both alphabets, at any offset); each of these also as part of a JSON string, however
/// that encodes its characters. Other encodings are not searched for. Pure. Memory: some 20 times
/// that of the secrets.
class SecretForms {
 public:
  /// Shorter ones are not searched for: they would occur everywhere.
  static constexpr std::size_t shortest = 8;

  SecretForms() = default;
  explicit SecretForms(std::vector<std::string> secrets);

  /// Whether it was made from these secrets.
  bool is_of(const std::vector<std::string>& secrets) const { return secrets_ == secrets; }
  std::string blotted(std::string text) const { return bridge::blotted(std::move(text), forms_); }

 private:
  void add(std::string form);

  std::vector<std::string> secrets_;
  std::vector<std::string> forms_;
};

}  // namespace bridge
