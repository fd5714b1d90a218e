#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace bridge {

/// The secrets a source has used lately: an answer that is still on its way may show one that has
/// been replaced since.
/// Pure. Memory: the last 8 of them.
class RecentSecrets {
 public:
  void add(std::string secret) {
    if (secret.empty() || std::find(known_.begin(), known_.end(), secret) != known_.end()) return;
    if (known_.size() == max_known) known_.erase(known_.begin());
    known_.push_back(std::move(secret));
  }

  const std::vector<std::string>& all() const { return known_; }

 private:
  static constexpr std::size_t max_known = 8;
  std::vector<std::string> known_;
};

/// `text` with every secret of at least four characters in it redacted, long ones first, so that
/// nothing remains of one that begins like another.
inline std::string redacted(std::string text, std::vector<std::string> secrets) {
  std::sort(secrets.begin(), secrets.end(),
            [](const auto& left, const auto& right) { return left.size() > right.size(); });
  for (const std::string& secret : secrets) {
    if (secret.size() < 4) break;
    for (auto at = text.find(secret); at != text.npos; at = text.find(secret, at + 3)) {
      text.replace(at, secret.size(), "***");
    }
  }
  return text;
}

}  // namespace bridge
