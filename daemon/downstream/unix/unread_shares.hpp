#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>

#include "router/client_channel.hpp"

namespace bridge {

/// Divides what clients may leave unread: in equal parts among the users that hold something, each
/// user's part among its clients that do. Only those of a user over its part have a limit, so one
/// user's clients that read nothing cost no other user anything. Pure.
///
/// Owned by UnixClients, outlives its holders; the loop's thread only. One entry per user with a
/// connected client.
class UnreadShares {
  struct Account {
    std::size_t bytes = 0;
    std::size_t clients = 0;
    std::size_t holding = 0;  ///< clients with bytes
  };
  using Accounts = std::map<User, Account>;

 public:
  static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

  /// `total`: for all; `least`: what each client may hold whatever the others do.
  UnreadShares(std::size_t total, std::size_t least) : total_(total), least_(least) {}

  /// What one client holds.
  class Holder {
   public:
    Holder(UnreadShares& shares, const User& user)
        : shares_(&shares), account_(shares.accounts_.try_emplace(user).first) {
      ++account_->second.clients;
    }
    ~Holder() { release(); }
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;

    void set(std::size_t bytes) {
      if (shares_ == nullptr || bytes == bytes_) return;
      Account& account = account_->second;
      account.bytes += bytes - bytes_;
      if ((bytes == 0) != (bytes_ == 0)) shares_->count(account, bytes != 0);
      bytes_ = bytes;
    }
    /// The client has left. set() does nothing from now on.
    void release() {
      if (shares_ == nullptr) return;
      set(0);
      if (--account_->second.clients == 0) shares_->accounts_.erase(account_);
      shares_ = nullptr;
    }
    /// Bytes that the client may hold at present.
    std::size_t limit() const {
      return shares_ == nullptr ? unlimited : shares_->limit_of(account_->second);
    }

   private:
    UnreadShares* shares_;
    Accounts::iterator account_;
    std::size_t bytes_ = 0;
  };

 private:
  void count(Account& account, bool holds) {
    if (!holds) {
      if (--account.holding == 0) --holding_;
    } else if (account.holding++ == 0) {
      ++holding_;
    }
  }
  std::size_t limit_of(const Account& account) const {
    const std::size_t part = total_ / std::max<std::size_t>(1, holding_);
    if (account.bytes <= part) return unlimited;
    return std::max(least_, part / account.holding);
  }

  std::size_t total_;
  std::size_t least_;
  Accounts accounts_;
  std::size_t holding_ = 0;  ///< users with bytes
};

}  // namespace bridge
