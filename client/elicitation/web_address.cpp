#include "elicitation/web_address.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "terminal/visible.hpp"

namespace client {
namespace {

/// Letters that look like others are told apart by their bytes.
std::string in_ascii(std::string_view host) {
  std::string shown;
  for (const char c : host) {
    const auto byte = static_cast<unsigned char>(c);
    shown += byte > 0x20 && byte < 0x7f ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return shown;
}

}  // namespace

std::string host_of(std::string_view address) {
  const auto scheme_end = address.find("://");
  if (scheme_end == address.npos) return {};
  std::string scheme(address.substr(0, scheme_end));
  std::transform(scheme.begin(), scheme.end(), scheme.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (scheme != "http" && scheme != "https") return {};
  // A browser takes a backslash for a slash.
  std::string_view authority = address.substr(scheme_end + 3);
  authority = authority.substr(0, authority.find_first_of("/\\?#"));
  if (const auto at = authority.rfind('@'); at != authority.npos) authority.remove_prefix(at + 1);
  return std::string(authority);
}

std::string describe_address(std::string_view address) {
  const std::string host = host_of(address);
  return fmt::format("  address: {}\n  host:    {}\n", make_visible_line(address),
                     host.empty() ? "none: this is no web address" : in_ascii(host));
}

}  // namespace client
