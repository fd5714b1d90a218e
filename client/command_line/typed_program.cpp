#include "command_line/typed_program.hpp"

#include "spelling/shell_word.hpp"

namespace client {

std::string typed_program(const Options& options) {
  std::string words = "mcp-nc";
  if (!options.socket.empty()) words += " -s " + shell_word(options.socket);
  if (!options.config.empty()) words += " --config " + shell_word(options.config);
  if (!options.server.empty()) words += " " + shell_word("@" + options.server);
  const bool may_be_secret = options.url.find_first_of("?@") != std::string::npos;
  if (!options.url.empty())
    words += may_be_secret ? " --url URL" : " --url " + shell_word(options.url);
  if (!options.command.empty()) words += " --run " + shell_word(options.command);
  return words;
}

}  // namespace client
