#include "clients/http/face_options.hpp"

#include <fmt/format.h>

#include <charconv>

#include "clients/http/site_check.hpp"

namespace bridge {

bool FaceAddress::is_loopback() const { return is_loopback_name(host); }

std::optional<FaceAddress> parse_face_address(std::string_view text) {
  FaceAddress address;
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

std::string fault_of(const FaceOptions& options) {
  if (options.certificate.empty() != options.private_key.empty()) {
    return "--http-cert and --http-key go together";
  }
  if (!options.address || options.address->is_loopback() || options.insecure) return {};
  const bool no_tls = options.certificate.empty();
  const bool no_token = options.token_file.empty();
  if (!no_tls && !no_token) return {};
  return fmt::format(
      "--http: {} can be reached from outside and has no {}; give {}, bind 127.0.0.1, or say "
      "--http-insecure",
      options.address->host,
      no_tls && no_token ? "TLS and no token"
      : no_tls           ? "TLS"
                         : "token",
      no_tls && no_token ? "--http-cert, --http-key and --http-token-file"
      : no_tls           ? "--http-cert and --http-key"
                         : "--http-token-file");
}

}  // namespace bridge
