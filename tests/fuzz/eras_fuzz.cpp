#include <string>
#include <variant>

#include "harness.hpp"
#include "json/frame.hpp"
#include "mcp/input_required.hpp"
#include "mcp/request_meta.hpp"
#include "mcp/subscription_filter.hpp"

// Any message may come, and is translated for the other era. No crash; the result is a message with
// the same id, and the noted positions in it are correct.

namespace {

using namespace bridge;

void same(Slice noted, Slice there) {
  if (!noted.present()) return;  // perhaps it was added
  MUST(noted.begin == there.begin);
  MUST(noted.end == there.end);
}

/// Does nothing if the edit nested it beyond the limit.
void check_notes(const Frame& made) {
  const auto parsed = parse_frame(made.bytes);
  const auto* const read = std::get_if<Frame>(&parsed);
  if (read == nullptr) {
    MUST(std::get<FrameFault>(parsed).reason == "Invalid Request: nested beyond 1024 levels");
    return;
  }
  MUST(read->kind == made.kind);
  MUST(read->method == made.method);
  same(made.id, read->id);
  same(made.params, read->params);
  same(made.result, read->result);
  same(made.error, read->error);
  same(made.progress_token, read->progress_token);
  same(made.name, read->name);
  same(made.arguments, read->arguments);
}

void check_request(const Frame& frame) {
  RequestIdentity identity;
  identity.client_info = R"({"name":"n"})";
  identity.log_level = R"("info")";
  const Frame modern = with_request_meta(frame, identity);
  check_notes(modern);
  const Frame legacy = without_request_meta(frame);
  check_notes(legacy);
  MUST(!legacy.protocol_version.present());
  MUST(request_digest(frame) == request_digest(legacy));
  read_filter(frame);
  const auto answers = read_input_answers(frame);
  if (std::holds_alternative<InputAnswers>(answers)) {
    const auto bare = parse_frame(without_input_answers(frame));
    MUST(std::holds_alternative<Frame>(bare));
    MUST(!std::get<InputAnswers>(read_input_answers(std::get<Frame>(bare))).has_state);
  }
}

void check_response(const Frame& frame) {
  for (const char* method : {"tools/call", "tools/list"}) {
    for (const bool answers_urls : {false, true})
      check_notes(for_modern_client(frame, method, answers_urls));
  }
  if (has_failed(frame)) check_notes(missing_capability(frame, R"({"roots":{}})", true));
  read_input_required(frame.text(frame.result));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto parsed = parse_frame(std::string(reinterpret_cast<const char*>(data), size));
  const auto* const frame = std::get_if<Frame>(&parsed);
  if (frame == nullptr) return 0;
  if (frame->is_request()) check_request(*frame);
  if (frame->is_response()) check_response(*frame);
  if (frame->is_notification()) {
    const auto told = parse_frame(with_subscription_id(*frame, "7"));
    MUST(std::holds_alternative<Frame>(told) || frame->bytes.size() > 1024);
    without_subscription_id(*frame);
  }
  return 0;
}
