#include "jsonrpc/frame.hpp"

#include <utility>

#include "jsonrpc/error_codes.hpp"
#include "jsonrpc/frame_walk.hpp"
#include "text/json_progress.hpp"
#include "text/json_scanner.hpp"
#include "text/utf8.hpp"

namespace bridge {

namespace {

FrameFault invalid(std::string_view reason) { return {json_rpc::invalid_request, reason}; }

constexpr FrameFault not_utf8{json_rpc::parse_error, "Parse error: not UTF-8"};
constexpr FrameFault not_an_object{json_rpc::invalid_request, "Invalid Request: not an object"};

FrameFault fault_of(JsonFault fault) {
  if (fault == JsonFault::too_deep) return invalid("Invalid Request: nested beyond 1024 levels");
  return {json_rpc::parse_error, "Parse error: not JSON"};
}

FrameFault fault_of_no_object(std::string_view text) {
  JsonScanner whole(text);
  Slice value;
  whole.skip_space();
  const bool json = whole.value(value);
  whole.skip_space();
  if (json ? whole.at_end() : whole.fault() == JsonFault::too_deep) return not_an_object;
  return fault_of(JsonFault::syntax);
}

/// `checked`: what is known of the bytes; null: nothing is.
ParsedFrame parse_known(std::string&& bytes, const CheckedJson* checked) {
  if (checked == nullptr && !is_utf8(bytes)) return not_utf8;
  // Made where it is returned: a frame is too large to be moved about.
  ParsedFrame parsed(std::in_place_type<Frame>);
  Frame& frame = *std::get_if<Frame>(&parsed);
  frame.bytes = std::move(bytes);
  FrameWalk walk(frame.bytes, frame, 0, checked);
  std::optional<FrameFault> fault;
  if (!walk.starts_with_object()) {
    fault = fault_of_no_object(frame.bytes);
  } else if (!walk.message() || !walk.ends()) {
    fault = fault_of(walk.fault());
  } else if (const char* reason = walk.finish()) {
    fault = invalid(reason);
  }
  if (fault) parsed = *fault;
  return parsed;
}

}  // namespace

ParsedFrame parse_frame(std::string bytes) {
  if (bytes.size() < JsonProgress::worthwhile) return parse_known(std::move(bytes), nullptr);
  const auto checked = JsonProgress().finish(bytes);
  return parse_known(std::move(bytes), checked ? &*checked : nullptr);
}

ParsedFrame parse_received(ReceivedText text) {
  if (!text.checked && text.bytes.size() >= JsonProgress::worthwhile)
    return parse_frame(std::move(text.bytes));
  return parse_known(std::move(text.bytes), text.checked.get());
}

bool is_batch(std::string_view bytes) {
  const auto first = bytes.find_first_not_of(" \t\r\n");
  return first != bytes.npos && bytes[first] == '[';
}

std::variant<std::vector<ParsedFrame>, FrameFault> parse_batch(std::string_view bytes) {
  if (!is_utf8(bytes)) return not_utf8;
  std::vector<ParsedFrame> elements;
  std::optional<FrameFault> fault;
  JsonScanner scanner(bytes);
  scanner.skip_space();
  const bool walked = scanner.array([&] {
    Slice value;
    if (elements.size() == max_batch) {
      fault = invalid("Invalid Request: a batch of more than 10000 messages");
      return false;
    }
    if (scanner.peek() != '{') {
      elements.emplace_back(not_an_object);
      return scanner.value(value);
    }
    const std::string_view rest = bytes.substr(scanner.position());
    Frame frame;
    FrameWalk walk(rest, frame, 1);
    if (!walk.message()) {
      fault = fault_of(walk.fault());
      return false;
    }
    scanner.skip(walk.position());
    frame.bytes = rest.substr(0, walk.position());
    if (const char* reason = walk.finish()) {
      elements.emplace_back(invalid(reason));
    } else {
      elements.emplace_back(std::move(frame));
    }
    return true;
  });
  scanner.skip_space();
  if (fault) return *fault;
  if (!walked || !scanner.at_end()) return fault_of(scanner.fault());
  if (elements.empty()) return invalid("Invalid Request: empty batch");
  return elements;
}

void splice(std::string& bytes, Splice first, Splice second) {
  if (first.at.begin < second.at.begin) std::swap(first, second);
  // From the back to the front, so that the earlier slice stays where it is.
  for (const Splice& one : {first, second}) {
    if (one.at.present()) bytes.replace(one.at.begin, one.at.size(), one.with);
  }
}

}  // namespace bridge
