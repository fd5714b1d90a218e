#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bridge {

/// Where a server listens.
struct ListenAddress {
  std::string host;
  std::uint16_t port = 0;  ///< 0: a free one

  bool is_loopback() const;
};

/// `HOST:PORT`, `[IPV6]:PORT`; `:PORT` and `PORT` are on 127.0.0.1. Nothing if it is none of them.
std::optional<ListenAddress> parse_listen_address(std::string_view text);

}  // namespace bridge
