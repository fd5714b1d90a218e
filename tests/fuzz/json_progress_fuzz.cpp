#include <cstring>
#include <string>
#include <string_view>

#include "harness.hpp"
#include "json/json_progress.hpp"
#include "text/utf8.hpp"

// Any bytes may come, cut anywhere. What it calls good is good to JsonScanner, and vice versa for
// an object or an array; so is each noted value. The first byte determines the cuts and how often
// the text is repeated inside of an array, so that it meets the edges of blocks.

namespace {

using bridge::CheckedJson;
using bridge::JsonProgress;
using bridge::JsonScanner;
using bridge::Slice;
using bridge::VectorCode;

bool is_container(std::string_view text) {
  JsonScanner scanner(text);
  Slice value;
  scanner.skip_space();
  if (scanner.peek() != '{' && scanner.peek() != '[') return false;
  if (!scanner.value(value)) return false;
  scanner.skip_space();
  return scanner.at_end() && bridge::is_utf8(text);
}

void check(std::string_view text, std::size_t cut, VectorCode code) {
  JsonProgress progress(code);
  for (std::size_t end = cut; end < text.size(); end += cut) progress.read_on(text.substr(0, end));
  const auto checked = progress.finish(text);
  MUST(checked.has_value() == is_container(text));
  if (!checked) return;
  for (const Slice& value : checked->values) {
    JsonScanner scanner(value.of(text));
    Slice taken;
    MUST(value.end <= text.size());
    MUST(scanner.value(taken) && scanner.at_end());
    MUST(checked->value_at(value.begin) == &value);
  }
}

void check(std::string_view text, std::size_t cut) {
  for (const VectorCode code : {VectorCode::none, VectorCode::sse2, VectorCode::avx2}) {
    if (bridge::can_run(code)) check(text, cut, code);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
  const std::size_t cut = 1 + data[0] % 97;
  check(text, cut);
  // Large enough for its values to be noted.
  check("{\"result\":{\"x\":[" + std::string(data[0], ' ') + text + "],\"y\":\"" +
            std::string(5000, 'a') + "\"}}",
        cut);
  return 0;
}
