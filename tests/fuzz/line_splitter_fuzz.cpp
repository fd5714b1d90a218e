#include <string>
#include <vector>

#include "harness.hpp"
#include "json/arriving_text.hpp"

// The reported lines do not depend on the chunks; no line is longer than the limit or contains a
// line end; held memory is bounded.

namespace {

struct Transcript {
  void on_line(std::string line) {
    MUST(!line.empty());
    MUST(line.size() <= limit);
    MUST(line.find('\n') == line.npos);
    lines.push_back(std::move(line));
  }
  void on_oversized_line() { lines.emplace_back(); }

  std::size_t limit;
  std::vector<std::string> lines{};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Input input(data, size);
  const std::size_t limit = input.limit % 32 + 1;
  Transcript whole{limit};
  bridge::LineSplitter one(limit);
  one.feed(input.bytes, whole);
  one.finish(whole);

  Transcript split{limit};
  bridge::LineSplitter other(limit);
  feed_in_chunks(input.bytes, input.plan, [&](std::string_view chunk) {
    other.feed(chunk, split);
    MUST(other.pending_bytes() <= limit + 1);
  });
  other.finish(split);
  MUST(whole.lines == split.lines);
  return 0;
}
