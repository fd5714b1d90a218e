#include "auth/auth_options.hpp"
#include "auth/secret_file.hpp"
#include "auth/static_token.hpp"
#include "auth/token_command.hpp"
#include "auth/token_file.hpp"

namespace bridge {

std::string fault_of(const AuthOptions& options) {
  if (!options.token_command.empty() || options.token_file.empty()) return {};
  return read_secret_file(options.token_file, "--token-file").fault;
}

std::unique_ptr<TokenSource> make_token_source(asio::io_context& loop, Turn& turn, CurlLoop&, const AuthOptions& options,
                                               const HttpOptions&, Log& log) {
  if (!options.token_command.empty()) {
    return std::make_unique<TokenCommand>(loop, turn, options.token_command, options.token_ttl, log);
  }
  if (!options.token_file.empty()) return std::make_unique<TokenFile>(loop, turn, options.token_file);
  return std::make_unique<StaticToken>(loop, turn, options.static_token);
}

}  // namespace bridge
