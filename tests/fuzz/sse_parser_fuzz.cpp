#include <string>
#include <vector>

#include "harness.hpp"
#include "http/sse_parser.hpp"

// The reported events do not depend on the chunks, no event is longer than the limit, and held
// memory is bounded.

namespace {

class Transcript final : public bridge::SseSink {
 public:
  explicit Transcript(std::size_t limit) : parser(limit), limit_(limit) {}

  void on_event(std::string type, bridge::ReceivedText text) override {
    const std::string data = std::move(text);
    MUST(data.size() <= limit_);
    MUST(data.find('\r') == data.npos);
    lines.push_back("event " + type + '\0' + data + '\0' + parser.last_event_id());
  }
  void on_retry(std::chrono::milliseconds delay) override {
    lines.push_back("retry " + std::to_string(delay.count()));
  }
  void on_oversized_event() override { lines.push_back("oversized"); }

  bridge::SseParser parser;
  std::vector<std::string> lines;

 private:
  std::size_t limit_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Input input(data, size);
  Transcript whole(input.limit);
  whole.parser.feed(input.bytes, whole);

  Transcript split(input.limit);
  feed_in_chunks(input.bytes, input.plan, [&](std::string_view chunk) {
    split.parser.feed(chunk, split);
    // One event's data, and as much again for one line, or the longest other field, and a chunk.
    MUST(split.parser.pending_bytes() <= 2 * input.limit + 4096 + 64);
  });
  MUST(whole.lines == split.lines);
  MUST(whole.parser.last_event_id() == split.parser.last_event_id());
  return 0;
}
