#include "http/server/listen_address.hpp"

#include <charconv>

#include "http/site_check.hpp"

namespace bridge {

bool ListenAddress::is_loopback() const { return is_loopback_name(host); }

std::optional<ListenAddress> parse_listen_address(std::string_view text) {
  ListenAddress address;
  std::string_view port = text;
  address.host = "127.0.0.1";
  if (const auto colon = text.rfind(':'); colon != text.npos) {
    std::string_view host = text.substr(0, colon);
    port = text.substr(colon + 1);
    const bool bracketed = host.starts_with("[") && host.ends_with("]");
    if (!bracketed && host.find_first_of(":[]") != host.npos) return std::nullopt;
    if (bracketed) host = host.substr(1, host.size() - 2);
    if (bracketed && host.empty()) return std::nullopt;
    if (!host.empty()) address.host = std::string(host);
  }
  const char* end = port.data() + port.size();
  const auto [stop, error] = std::from_chars(port.data(), end, address.port);
  if (port.empty() || error != std::errc() || stop != end) return std::nullopt;
  if (address.host.find_first_of(" \t/") != address.host.npos) return std::nullopt;
  return address;
}

}  // namespace bridge
