#include <string>
#include <vector>

#include "harness.hpp"
#include "http/request.hpp"

// The requests that are read do not depend on the chunks, no body is longer than the limit, held
// memory is bounded, and nothing follows a fault.

namespace {

using bridge::RequestReader;

class Transcript {
 public:
  explicit Transcript(std::size_t limit) : reader_(limit), limit_(limit) {}

  void feed(std::string_view chunk) {
    for (;;) {
      const auto event = reader_.advance(chunk);
      MUST(reader_.pending_bytes() <=
           RequestReader::max_head + 1 + limit_ + RequestReader::max_line + 1);
      if (event == RequestReader::Event::more) {
        MUST(chunk.empty());
        return;
      }
      if (event == RequestReader::Event::fault) {
        if (!failed_) lines.push_back("fault " + std::to_string(reader_.fault().status));
        MUST(reader_.fault().status >= 400);
        failed_ = true;
        return;
      }
      MUST(!failed_);
      if (event == RequestReader::Event::head) {
        look_at(reader_.head());
        continue;
      }
      const bridge::ReceivedText body = reader_.take_body();
      MUST(body.bytes.size() <= limit_);
      lines.push_back((body.checked ? "JSON " : "body ") + body.bytes);
      reader_.next();
    }
  }

  std::vector<std::string> lines;

 private:
  void look_at(const bridge::RequestHead& head) {
    lines.push_back(head.method + ' ' + head.path + '?' + head.query);
    for (const auto& header : head.headers) {
      MUST(header.value.find_first_of("\r\n") == header.value.npos);
      lines.push_back(header.name + ": " + header.value);
    }
    MUST(!(head.count("content-length") > 0 && head.count("transfer-encoding") > 0));
    const bridge::SiteCheck check{true, {}, {}};
    check.admits_origin(head.header("origin"), head.header("host"));
    check.admits_host(head.header("host"));
    bridge::answer_form(head.header("accept"));
    head.header_has("prefer", "respond-async");
    head.parameter("sessionId");
  }

  RequestReader reader_;
  std::size_t limit_;
  bool failed_ = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Input input(data, size);
  Transcript whole(input.limit);
  whole.feed(input.bytes);
  Transcript split(input.limit);
  feed_in_chunks(input.bytes, input.plan, [&](std::string_view chunk) { split.feed(chunk); });
  MUST(whole.lines == split.lines);
  return 0;
}
