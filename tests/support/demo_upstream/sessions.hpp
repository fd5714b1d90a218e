#pragma once

#include <atomic>
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "session.hpp"

namespace demo {

/// All sessions, by their unguessable ids. Thread-safe.
class Sessions {
 public:
  explicit Sessions(StreamRules rules) : rules_(rules) {}

  std::shared_ptr<Session> create();
  std::shared_ptr<Session> find(std::string_view id) const;
  std::vector<std::shared_ptr<Session>> all() const;

  /// Removes and closes it; false if there is none.
  bool remove(std::string_view id);
  std::size_t remove_all(bool keep_streams);

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };

  const StreamRules rules_;
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<Session>, Hash, std::equal_to<>> sessions_;
};

}  // namespace demo
