#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace bridge {

/// The first and the last bytes of a text that is too long to be kept, however it was chunked.
/// Pure.
class TextEnds {
 public:
  static constexpr std::size_t most = 256;  ///< bytes of either end

  void add(std::string_view part) {
    beginning_.append(part.substr(0, most - beginning_.size()));
    end_.append(part.substr(part.size() - std::min(part.size(), most)));
    if (end_.size() > most) end_.erase(0, end_.size() - most);
  }

  const std::string& beginning() const { return beginning_; }
  const std::string& end() const { return end_; }

 private:
  std::string beginning_;
  std::string end_;
};

}  // namespace bridge
