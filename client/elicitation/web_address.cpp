#include "elicitation/web_address.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "elicitation/punycode.hpp"
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

/// What stands behind the scheme of a web address; "" of any other.
std::string_view rest_of(std::string_view address) {
  const auto scheme_end = address.find("://");
  if (scheme_end == address.npos) return {};
  std::string scheme(address.substr(0, scheme_end));
  std::transform(scheme.begin(), scheme.end(), scheme.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (scheme != "http" && scheme != "https") return {};
  return address.substr(scheme_end + 3);
}

/// A browser takes a backslash for a slash.
std::string_view authority_of(std::string_view address) {
  const std::string_view rest = rest_of(address);
  return rest.substr(0, rest.find_first_of("/\\?#"));
}

}  // namespace

std::string host_of(std::string_view address) {
  std::string_view authority = authority_of(address);
  if (const auto at = authority.rfind('@'); at != authority.npos) authority.remove_prefix(at + 1);
  return std::string(authority);
}

std::string describe_address(std::string_view address) {
  const std::string host = host_of(address);
  std::string text = fmt::format("  address: {}\n", make_visible_line(address));
  if (host.empty()) return text + "  host:    none: this is no web address\n";
  text += "  host:    " + in_ascii(host);
  const bool is_ascii = std::all_of(host.begin(), host.end(),
                                    [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (const auto encoded = punycode_host(host); encoded && !is_ascii)
    text += fmt::format(" ({})", *encoded);
  text += "\n";
  const std::string_view authority = authority_of(address);
  if (const auto at = authority.rfind('@'); at != authority.npos) {
    text += fmt::format("  beware:  {} before the @ is a user's name, and not where it leads\n",
                        in_ascii(authority.substr(0, at)));
  }
  if (rest_of(address).substr(0, rest_of(address).find_first_of("/?#")).find('\\') !=
      std::string_view::npos) {
    text += "  beware:  there is a backslash in it, which a browser takes for a slash\n";
  }
  if (host.find('%') != host.npos)
    text += "  beware:  the host has percent signs in it, which a browser decodes\n";
  return text;
}

}  // namespace client
