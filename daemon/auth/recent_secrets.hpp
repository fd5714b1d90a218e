#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "http/client/web_url.hpp"
#include "text/secret_forms.hpp"

namespace bridge {

/// The secrets that a source has used lately: a response still in transit may show one that has
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

/// `text` with every secret of at least four characters redacted, also where JSON escapes it
/// differently; long ones first, so that no rest remains of one that starts with another.
inline std::string redacted(std::string text, std::vector<std::string> secrets) {
  std::erase_if(secrets, [](const std::string& secret) { return secret.size() < 4; });
  std::sort(secrets.begin(), secrets.end(),
            [](const auto& left, const auto& right) { return left.size() > right.size(); });
  return blotted(std::move(text), secrets);
}

/// A peer's URL for messages and the log: without parts that may be secret.
inline std::string shown_url(const std::string& text) {
  const auto url = parse_web_url(text);
  return printable(url ? url->shown() : text, 300);
}

/// A server's message as shown: printable, bounded, and without the secrets that were sent to it.
inline std::string server_words(const std::string& text, const std::vector<std::string>& secrets) {
  return printable(redacted(text, secrets), 400);
}

}  // namespace bridge
