#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/json_text.hpp"

namespace bridge {

/// Ids of requests, found by what they mean: `"a"` and `"\\u0061"` are one. Pure; bounded by its
/// owner.
class IdSet {
 public:
  void insert(std::string raw_id) {
    std::string key = canonical_id(raw_id);
    ids_.emplace(std::move(key), std::move(raw_id));
  }
  bool contains(std::string_view raw_id) const { return ids_.contains(canonical_id(raw_id)); }
  /// Whether it was there.
  bool erase(std::string_view raw_id) { return ids_.erase(canonical_id(raw_id)) > 0; }
  bool empty() const { return ids_.empty(); }

  /// `visit` gets them as they were written, in no order.
  template <class Visit>
  void each(Visit&& visit) const {
    for (const auto& [key, raw_id] : ids_) visit(raw_id);
  }
  /// As they were written, in no order; none are left.
  std::vector<std::string> take_all() {
    std::vector<std::string> raw_ids;
    for (auto& [key, raw_id] : ids_) raw_ids.push_back(std::move(raw_id));
    ids_.clear();
    return raw_ids;
  }

 private:
  std::unordered_map<std::string, std::string> ids_;
};

}  // namespace bridge
