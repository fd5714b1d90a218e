#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/ids.hpp"

namespace bridge {

/// Names that only one client knows: what it has told the upstream of, or was told of (MCP
/// 2025-11-25, "Tasks" and "Elicitation"). A request of the upstream that names one is for that
/// client, also when it has left. Pure. Bounds: `most` names, `most_of_client` of one client, each
/// of at most `longest` bytes; the oldest are forgotten.
class ToldNames {
 public:
  static constexpr std::size_t most = 4096;
  static constexpr std::size_t most_of_client = 256;
  static constexpr std::size_t longest = 256;

  enum class Kind : std::uint8_t {
    client_task,  ///< of the client: the first that has told of it keeps it
    server_task,  ///< of the server, for a call of the client
    elicitation,  ///< that the client was asked
  };
  friend constexpr Kind last_of(Kind) { return Kind::elicitation; }

  struct Entry {
    Kind kind{};
    std::string name;
    ClientId client{};

    template <class A>
    void each_field(A& archive) {
      archive(kind, name, client);
    }
  };

  void note(Kind kind, std::string_view name, ClientId client) {
    if (name.empty() || name.size() > longest) return;
    const auto found = by_name_.find(key_of(kind, name));
    if (found != by_name_.end()) {
      if (kind == Kind::client_task) return;
      forget(found->second);
    }
    if (const auto its = counts_.find(client);
        its != counts_.end() && its->second == most_of_client)
      forget_oldest_of(client);
    if (entries_.size() == most) forget(entries_.begin());
    entries_.push_back({kind, std::string(name), client});
    by_name_.emplace(key_of(kind, name), std::prev(entries_.end()));
    ++counts_[client];
  }

  std::optional<ClientId> find(Kind kind, std::string_view name) const {
    const auto found = by_name_.find(key_of(kind, name));
    return found == by_name_.end() ? std::nullopt : std::optional(found->second->client);
  }

  /// Another session has other names.
  void clear() {
    entries_.clear();
    by_name_.clear();
    counts_.clear();
  }

  /// For an upgrade.
  const std::list<Entry>& entries() const { return entries_; }

 private:
  using Entries = std::list<Entry>;

  static std::string key_of(Kind kind, std::string_view name) {
    return std::to_string(static_cast<unsigned>(kind)).append(name);
  }

  void forget(Entries::iterator entry) {
    const auto its = counts_.find(entry->client);
    if (--its->second == 0) counts_.erase(its);
    by_name_.erase(key_of(entry->kind, entry->name));
    entries_.erase(entry);
  }
  void forget_oldest_of(ClientId client) {
    auto entry = entries_.begin();
    while (entry->client != client) ++entry;
    forget(entry);
  }

  Entries entries_;  ///< the oldest first
  std::unordered_map<std::string, Entries::iterator> by_name_;
  std::map<ClientId, std::size_t> counts_;
};

}  // namespace bridge
