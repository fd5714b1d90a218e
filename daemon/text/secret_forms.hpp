#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bridge {

/// Whether two secrets are equal, in a time that tells nothing of where they differ. Their lengths
/// are no secret.
inline bool equal_in_constant_time(std::string_view left, std::string_view right) {
  if (left.size() != right.size()) return false;
  volatile unsigned char difference = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    difference = static_cast<unsigned char>(
        difference | (static_cast<unsigned char>(left[i]) ^ static_cast<unsigned char>(right[i])));
  }
  return difference == 0;
}

/// `text` with `***` in the place of each of `forms`, whether it stands there plainly or as part of
/// a JSON string, in whatever way that spells its characters. REQUIRES: long forms first, none
/// empty.
std::string blotted(std::string text, const std::vector<std::string>& forms);

/// Known secrets in the forms in which they may stand in a text: as they are, percent-encoded, and
/// inside of Base64 (of both alphabets, wherever in it they begin); each of these plainly or as
/// part of a JSON string, in whatever way that spells its characters. Other encodings are not
/// looked for. Pure. Memory: some 20 times that of the secrets.
class SecretForms {
 public:
  /// Shorter ones are not looked for: they would be found in everything.
  static constexpr std::size_t shortest = 8;

  SecretForms() = default;
  explicit SecretForms(std::vector<std::string> secrets);

  /// Whether it was made of these.
  bool is_of(const std::vector<std::string>& secrets) const { return secrets_ == secrets; }
  std::string blotted(std::string text) const { return bridge::blotted(std::move(text), forms_); }

 private:
  void add(std::string form);

  std::vector<std::string> secrets_;
  std::vector<std::string> forms_;
};

}  // namespace bridge
