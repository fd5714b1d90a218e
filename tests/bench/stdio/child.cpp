// bench-child: a local MCP server that costs next to nothing: it answers every message with an id,
// over its stdin and stdout. The text of an echo is not parsed. Its tools with large results are
// those of bench-upstream.
#include <csignal>
#include <string>
#include <string_view>

#include "harness/large_results.hpp"
#include "harness/sockets.hpp"

namespace {

/// The request's kind is at the beginning of a message: only that part is parsed.
constexpr std::size_t looked_at = 400;

constexpr std::string_view initialized =
    R"("result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1"}}})";
constexpr std::string_view echoed =
    R"("result":{"content":[{"type":"text","text":"hello from the benchmark"}]}})";

void answer(std::string_view line, std::string& out) {
  const std::string_view message = line.substr(0, looked_at);
  const std::string_view id = bench::text_after(message, "\"id\":", ",}");
  if (id.empty()) return;
  out += R"({"jsonrpc":"2.0","id":)";
  out += id;
  out += ',';
  const std::string_view large = bench::large_result_for(message);
  if (!large.empty()) {
    out += R"("result":)";
    bench::write_all(STDOUT_FILENO, out);
    bench::write_all(STDOUT_FILENO, large);
    out = "\n";
    return;
  }
  out += message.find("\"initialize\"") != message.npos ? initialized : echoed;
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
    std::size_t looked = pending.size(), begin = 0;
    pending.append(input, 0, static_cast<std::size_t>(got));
    for (std::size_t end = 0; (end = pending.find('\n', looked)) != pending.npos;
         begin = looked = end + 1) {
      answer(std::string_view(pending).substr(begin, end - begin), out);
    }
    if (begin > 0) pending.erase(0, begin);
    if (!out.empty()) bench::write_all(STDOUT_FILENO, out);
    out.clear();
  }
}
