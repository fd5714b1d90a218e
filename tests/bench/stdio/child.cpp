// bench-child: a local MCP server that costs next to nothing: it answers whatever has an id, over
// its stdin and stdout. The text of an echo is not looked at.
#include <csignal>
#include <string>
#include <string_view>

#include "harness/sockets.hpp"

namespace {

constexpr std::string_view initialized =
    R"("result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1"}}})";
constexpr std::string_view echoed =
    R"("result":{"content":[{"type":"text","text":"hello from the benchmark"}]}})";

void answer(std::string_view line, std::string& out) {
  const auto at = line.find("\"id\":");
  if (at == line.npos) return;
  const auto begin = at + 5;
  out += R"({"jsonrpc":"2.0","id":)";
  out += line.substr(begin, line.find_first_of(",}", begin) - begin);
  out += ',';
  out += line.find("\"initialize\"") != line.npos ? initialized : echoed;
  out += '\n';
}

}  // namespace

int main() {
  std::signal(SIGPIPE, SIG_IGN);
  std::string input(1 << 16, '\0');
  std::string pending, out;
  for (;;) {
    const ssize_t got = read(STDIN_FILENO, input.data(), input.size());
    if (got <= 0) return 0;
    pending.append(input, 0, static_cast<std::size_t>(got));
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = pending.find('\n', begin)) != pending.npos; begin = end + 1) {
      answer(std::string_view(pending).substr(begin, end - begin), out);
    }
    pending.erase(0, begin);
    bench::write_all(STDOUT_FILENO, out);
    out.clear();
  }
}
