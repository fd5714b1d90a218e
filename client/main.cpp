// mcp-nc: the client of the session bridge.

#include <csignal>

#include "command_line/options.hpp"
#include "process/process_start.hpp"
#include "verbs/verbs.hpp"

int main(int argc, char** argv) {
  bridge::ensure_standard_descriptors();
  std::signal(SIGPIPE, SIG_IGN);  // write(2) reports a closed output as an error

  const auto parsed = client::parse_command_line({argv + 1, argv + argc});
  const client::ExitCode code = std::holds_alternative<client::UsageError>(parsed)
                                    ? client::refuse(std::get<client::UsageError>(parsed))
                                    : client::run(std::get<client::Options>(parsed));
  return static_cast<int>(code);
}
