// bench-child: an MCP server on stdin and stdout that costs next to nothing, so that what is measured
// is what stands before it. Knows `initialize`, `tools/list` and `tools/call` of any tool; requests
// and ids as the SDKs write them.
#include <unistd.h>

#include <cctype>
#include <string>
#include <string_view>

namespace {

/// The raw value behind `"name":` at the top of a message; empty if it has none. Good enough for
/// messages whose strings hold no such text.
std::string_view value_of(std::string_view line, std::string_view name) {
  const std::size_t at = line.find(name);
  if (at == line.npos) return {};
  const std::size_t begin = at + name.size();
  std::size_t end = begin;
  if (line[begin] == '"') {
    end = line.find('"', begin + 1) + 1;
  } else {
    while (end < line.size() && (std::isdigit(static_cast<unsigned char>(line[end])) != 0 || line[end] == '-')) ++end;
  }
  return line.substr(begin, end - begin);
}

std::string answer_to(std::string_view line) {
  const std::string_view id = value_of(line, R"("id":)");
  const std::string_view method = value_of(line, R"("method":)");
  if (id.empty() || method.empty()) return {};
  std::string_view result = R"({})";
  if (method == R"("initialize")") {
    result = R"({"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"bench-child","version":"1"}})";
  } else if (method == R"("tools/list")") {
    result = R"({"tools":[{"name":"echo","inputSchema":{"type":"object"}}]})";
  } else if (method == R"("tools/call")") {
    result = R"({"content":[{"type":"text","text":"hi"}]})";
  }
  std::string answer = R"({"jsonrpc":"2.0","id":)";
  answer.append(id).append(R"(,"result":)").append(result).append("}\n");
  return answer;
}

bool write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

int main() {
  std::string buffer;
  for (;;) {
    char chunk[1 << 16];
    const ssize_t length = read(STDIN_FILENO, chunk, sizeof chunk);
    if (length <= 0) return 0;
    buffer.append(chunk, static_cast<std::size_t>(length));
    std::string answers;
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = buffer.find('\n', begin)) != buffer.npos; begin = end + 1) {
      answers += answer_to(std::string_view(buffer).substr(begin, end - begin));
    }
    buffer.erase(0, begin);
    if (!write_all(answers)) return 0;
  }
}
