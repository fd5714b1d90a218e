#include "downstream/http/frontend_context.hpp"

#include <fmt/format.h>

namespace bridge {

std::string fault_of(const FrontendOptions& options) {
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
