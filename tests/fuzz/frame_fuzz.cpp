#include <array>
#include <string>
#include <variant>
#include <vector>

#include "harness.hpp"
#include "json/frame.hpp"

// Any bytes may come. No crash; an accepted frame has its slices inside its own bytes, is
// unchanged, and is still the same frame after its ids and tokens were replaced and restored.

namespace {

using bridge::Frame;
using bridge::FrameFault;
using bridge::parse_frame;
using bridge::Slice;
using bridge::splice;

bool inside(const Frame& frame, Slice slice) {
  return slice.begin <= slice.end && slice.end <= frame.bytes.size();
}

Slice token_of(const Frame& frame) {
  return frame.progress_token.present() ? frame.progress_token : frame.request_id;
}

void check_accepted(const Frame& frame, const std::string& text) {
  MUST(frame.bytes == text);
  for (const Slice slice : {frame.id, frame.params, frame.result, frame.error, frame.progress_token,
                            frame.request_id}) {
    MUST(inside(frame, slice));
  }
  MUST(frame.is_request() == (!frame.method.empty() && frame.id.present()) || frame.method.empty());
  MUST(!frame.is_response() || frame.result.present() != frame.error.present());
  if (frame.id_is_null) return;

  const std::string id(frame.text(frame.id));
  const std::string token(frame.text(token_of(frame)));
  std::string replaced = text;
  splice(replaced, {frame.id, "18446744073709551615"}, {token_of(frame), "7"});
  auto parsed = parse_frame(replaced);
  const Frame* const again = std::get_if<Frame>(&parsed);
  MUST(again != nullptr);
  MUST(again->kind == frame.kind);
  MUST(again->method == frame.method);
  MUST(!frame.id.present() || again->text(again->id) == "18446744073709551615");
  MUST(token.empty() || again->text(token_of(*again)) == "7");
  MUST(frame.params.present() == again->params.present());
  splice(replaced, {token_of(*again), token}, {again->id, id});
  MUST(replaced == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto parsed = parse_frame(text);
  if (const Frame* frame = std::get_if<Frame>(&parsed)) {
    check_accepted(*frame, text);
  } else {
    const int code = std::get<FrameFault>(parsed).code;
    MUST(code == -32700 || code == -32600);
  }
  if (bridge::is_batch(text)) {
    const auto batch = bridge::parse_batch(text);
    if (const auto* elements = std::get_if<std::vector<bridge::ParsedFrame>>(&batch)) {
      MUST(!elements->empty());
      for (const bridge::ParsedFrame& element : *elements) {
        if (const auto* fault = std::get_if<FrameFault>(&element)) {
          MUST(fault->code == -32600);  // the grammar of each was checked with the whole
          continue;
        }
        const Frame& frame = std::get<Frame>(element);
        check_accepted(frame, frame.bytes);
        // Parsed alone it is the same message.
        const auto parsed = parse_frame(frame.bytes);
        const Frame* const alone = std::get_if<Frame>(&parsed);
        MUST(alone != nullptr && alone->kind == frame.kind && alone->method == frame.method);
        MUST(alone->text(alone->id) == frame.text(frame.id));
        MUST(alone->text(alone->params) == frame.text(frame.params));
        MUST(alone->text(token_of(*alone)) == frame.text(token_of(frame)));
      }
    }
  }
  return 0;
}
