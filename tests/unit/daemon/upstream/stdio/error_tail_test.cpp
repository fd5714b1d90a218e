// What a client is told of the stderr of a local server that ends at its start.
#include "upstream/stdio/error_tail.hpp"

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

using namespace bridge;

namespace {

std::string tail_of(const std::string& text, const std::vector<std::string>& secrets = {}) {
  ErrorTail tail;
  std::istringstream lines(text);
  const SecretForms forms = forms_in_lines(secrets);
  for (std::string line; std::getline(lines, line);) tail.add(forms.blotted(line));
  return tail.text();
}

}  // namespace

TEST_CASE("the last lines hold the reason, on one line") {
  CHECK(tail_of("") == "");
  CHECK(tail_of("\n \r\n") == "");
  CHECK(tail_of("1\n2\n3\n4\n5\n6\n7\n8\n") == "3 | 4 | 5 | 6 | 7 | 8");
  CHECK(tail_of("Traceback (most recent call last):\n  File \"s.py\", line 1, in <module>\n"
                "    import x\nModuleNotFoundError: No module named 'x'\n") ==
        "Traceback (most recent call last): | File \"s.py\", line 1, in <module> | import x | "
        "ModuleNotFoundError: No module named 'x'");
  std::string node =
      "node:internal/modules/cjs/loader:1143\n  throw err;\n  ^\n\n"
      "Error: Cannot find module '/s.js'\n";
  for (int i = 0; i < 10; ++i) node += "    at Module._load (node:internal:1)\n";
  node += "  code: 'MODULE_NOT_FOUND',\n  requireStack: []\n}\n\nNode.js v20.1.0\n";
  CHECK(tail_of(node).find("Error: Cannot find module '/s.js'") != std::string::npos);
}

TEST_CASE("it is bounded, and no escape of a terminal is left in it") {
  CHECK(tail_of(std::string(100'000, 'x')).size() <= ErrorTail::shown + 10);
  CHECK(tail_of("\x1b[31mred\x1b[0m").find('\x1b') == std::string::npos);
}

TEST_CASE("secrets are not in it, not even in part") {
  const std::string key = "-----BEGIN KEY-----\nabcdefghijkl\nmnopqrstuvwx\n-----END KEY-----";
  CHECK(tail_of("refused: geheimnis\n", {"geheimnis"}) == "refused: ***");
  CHECK(tail_of("mnopqrstuvwx\n-----END KEY-----\n", {key}) == "*** | ***");
  const std::string cut = std::string(190, 'x') + " geheimnisvolles";
  CHECK(tail_of(cut, {"geheimnisvolles"}).find("geh") == std::string::npos);
}

TEST_CASE("what a command's arguments and environment probably keep secret") {
  struct Row {
    std::vector<std::string> arguments;
    std::vector<std::string> environment;
    std::vector<std::string> secrets;
  };
  const Row rows[] = {
      {{"node", "server.js", "--verbose", "x"}, {"HOME=/home/a", "PATH=/bin"}, {}},
      {{"s", "--api-key", "k1"}, {}, {"k1"}},
      {{"s", "--token=t1", "next"}, {}, {"t1"}},
      {{"s", "-H", "Authorization: Bearer b1"}, {}, {"Bearer b1", "b1"}},
      {{"s", "postgres://me:p1@db/x"}, {}, {"p1", ":p1@"}},
      {{"s", "postgres://db/x?a=b@c:d"}, {}, {}},
      {{"s"}, {"GITHUB_TOKEN=g1", "Db_Password=d1", "API_KEY="}, {"g1", "d1"}},
      {{"s"}, {"REDIS=redis://:r1@h"}, {"r1", ":r1@"}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.arguments.back());
    CHECK(likely_secrets(row.arguments, row.environment) == row.secrets);
  }
}
