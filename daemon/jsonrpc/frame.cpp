#include "jsonrpc/frame.hpp"

#include <utility>

#include "jsonrpc/error_codes.hpp"
#include "jsonrpc/meta_keys.hpp"
#include "text/json_scanner.hpp"
#include "text/json_text.hpp"
#include "text/utf8.hpp"

namespace bridge {
namespace {

bool is_string_or_number(std::string_view value) {
  const char c = value.empty() ? '\0' : value.front();
  return c == '"' || c == '-' || (c >= '0' && c <= '9');
}

/// A member that was met, and whether it was met again.
struct Member {
  Slice value;
  bool twice = false;

  void meet(Slice met) {
    twice = twice || value.present();
    value = met;
  }
};

/// What the walk through a message found, before anything is made of it.
struct Found {
  Member id, method, params, result, error;
  Member meta, meta_progress_token, progress_token, request_id;
  Member result_type;
  ReservedMeta reserved;
  Slice protocol_version, subscription_id;
  bool reserved_twice = false;
};

class Walk {
 public:
  /// `depth`: how many containers are open around `text`.
  explicit Walk(std::string_view text, std::size_t depth = 0)
      : text_(text), scanner_(text, depth) {}

  /// The message that the text begins with.
  bool message() {
    return scanner_.object([this](Slice key) { return top_member(key.of(text_)); });
  }
  /// Whether nothing but white space is behind it.
  bool ends() {
    scanner_.skip_space();
    return scanner_.at_end();
  }

  const Found& found() const { return found_; }
  JsonFault fault() const { return scanner_.fault(); }
  std::size_t position() const { return scanner_.position(); }

  bool starts_with_object() {
    scanner_.skip_space();
    return scanner_.peek() == '{';
  }

 private:
  /// Shorter keys are none of ours in other letters: an escape of a letter takes six bytes.
  static constexpr std::size_t shortest_escaped = 7;

  /// A key without its escapes, until the next one.
  std::string_view plain(std::string_view key) {
    if (key.size() < shortest_escaped || key.find('\\') == key.npos) return key;
    spelling_ = unescape(key);
    return spelling_;
  }

  bool top_member(std::string_view raw_key) {
    Slice value;
    if (raw_key == "jsonrpc") return scanner_.value(value);  // in every message, never looked at
    const std::string_view key = plain(raw_key);
    if (key == "params") {
      return inner(found_.params, [this](std::string_view name) { return params_member(name); });
    }
    if (key == "result") {
      return inner(found_.result, [this](std::string_view name) { return result_member(name); });
    }
    Member* const member = key == "id"       ? &found_.id
                           : key == "method" ? &found_.method
                           : key == "error"  ? &found_.error
                                             : nullptr;
    if (!scanner_.value(value)) return false;
    if (member != nullptr) member->meet(value);
    return true;
  }

  /// Takes a value; if it is an object, member by member.
  template <class OnMember>
  bool inner(Member& member, OnMember&& on_member) {
    Slice value{scanner_.position(), 0};
    if (scanner_.peek() == '{') {
      if (!scanner_.object([&](Slice key) { return on_member(key.of(text_)); })) return false;
      value.end = scanner_.position();
    } else if (!scanner_.value(value)) {
      return false;
    }
    member.meet(value);
    return true;
  }

  bool params_member(std::string_view raw_key) {
    const std::string_view key = plain(raw_key);
    if (key == "_meta") {
      return inner(found_.meta, [this](std::string_view name) { return meta_member(name); });
    }
    Member* const member = key == "progressToken" ? &found_.progress_token
                           : key == "requestId"   ? &found_.request_id
                                                  : nullptr;
    Slice value;
    if (!scanner_.value(value)) return false;
    if (member != nullptr) member->meet(value);
    return true;
  }

  bool meta_member(std::string_view raw_key) {
    Slice value;
    if (!scanner_.value(value)) return false;
    const std::string_view key = plain(raw_key);
    if (key == meta_key::progress_token) found_.meta_progress_token.meet(value);
    if (key.size() >= meta_key::shortest_of_requests) reserved_member(key, value);
    return true;
  }

  void reserved_member(std::string_view key, Slice value) {
    Slice* const found = reserved_place(key);
    if (found == nullptr) return;
    found_.reserved_twice = found_.reserved_twice || found->present();
    *found = value;
  }

  Slice* reserved_place(std::string_view key) {
    if (key == meta_key::protocol_version) return &found_.protocol_version;
    if (key == meta_key::client_capabilities) return &found_.reserved.client_capabilities;
    if (key == meta_key::client_info) return &found_.reserved.client_info;
    if (key == meta_key::log_level) return &found_.reserved.log_level;
    return key == meta_key::subscription_id ? &found_.subscription_id : nullptr;
  }

  bool result_member(std::string_view key) {
    const bool is_type = plain(key) == "resultType";
    Slice value;
    if (!scanner_.value(value)) return false;
    if (is_type) found_.result_type.meet(value);
    return true;
  }

  std::string_view text_;
  JsonScanner scanner_;
  Found found_;
  std::string spelling_;  ///< of a key that has escapes
};

FrameFault invalid(std::string_view reason) { return {json_rpc::invalid_request, reason}; }

/// Gives the frame its kind, or says why it is none of the three.
const char* classify(Frame& frame, const Found& found) {
  if (found.id.twice || found.method.twice || found.params.twice || found.result.twice ||
      found.error.twice) {
    return "Invalid Request: a member stands twice";
  }
  frame.id = found.id.value;
  frame.params = found.params.value;
  frame.result = found.result.value;
  frame.error = found.error.value;
  const std::string_view id = frame.text(frame.id);
  const bool id_names = is_string_or_number(id);
  if (found.method.value.present()) {
    const std::string_view method = frame.text(found.method.value);
    if (!is_string(method)) return "Invalid Request: method is no string";
    if (frame.result.present() || frame.error.present()) {
      return "Invalid Request: both method and result or error";
    }
    if (frame.id.present() && !id_names) return "Invalid Request: id is no string and no number";
    frame.kind = frame.id.present() ? FrameKind::request : FrameKind::notification;
    frame.method = unescape(method.substr(1, method.size() - 2));
    return nullptr;
  }
  if (!frame.id.present()) return "Invalid Request: neither method nor id";
  if (frame.result.present() == frame.error.present()) {
    return "Invalid Request: not exactly one of method, result and error";
  }
  frame.kind = FrameKind::response;
  if (found.result_type.twice) return "Invalid Request: resultType stands twice";
  frame.result_type = found.result_type.value;
  if (id_names) return nullptr;
  frame.id_is_null = id == "null" && frame.error.present();
  return frame.id_is_null ? nullptr : "Invalid Request: id is no string and no number";
}

/// Takes the tokens that this kind of frame may carry.
const char* take_tokens(Frame& frame, const Found& found) {
  if (frame.is_response()) return nullptr;
  if (found.meta.twice || found.meta_progress_token.twice || found.reserved_twice) {
    return "Invalid Request: a member of _meta stands twice";
  }
  const auto names = [&frame](Slice slice) { return is_string_or_number(frame.text(slice)); };
  frame.meta = found.meta.value;
  frame.reserved = found.reserved;
  if (is_string(frame.text(found.protocol_version)))
    frame.protocol_version = found.protocol_version;
  if (frame.is_request()) {
    if (names(found.meta_progress_token.value)) {
      frame.progress_token = found.meta_progress_token.value;
    }
    return nullptr;
  }
  if (names(found.subscription_id)) frame.subscription_id = found.subscription_id;
  if (frame.method == "notifications/progress") {
    if (found.progress_token.twice) return "Invalid Request: progressToken stands twice";
    if (names(found.progress_token.value)) frame.progress_token = found.progress_token.value;
  } else if (frame.method == "notifications/cancelled") {
    if (found.request_id.twice) return "Invalid Request: requestId stands twice";
    if (names(found.request_id.value)) frame.request_id = found.request_id.value;
  }
  return nullptr;
}

ParsedFrame make_frame(std::string bytes, const Found& found) {
  Frame frame;
  frame.bytes = std::move(bytes);
  if (const char* reason = classify(frame, found)) return invalid(reason);
  if (const char* reason = take_tokens(frame, found)) return invalid(reason);
  return frame;
}

constexpr FrameFault not_utf8{json_rpc::parse_error, "Parse error: not UTF-8"};
constexpr FrameFault not_an_object{json_rpc::invalid_request, "Invalid Request: not an object"};

FrameFault fault_of(JsonFault fault) {
  if (fault == JsonFault::too_deep) return invalid("Invalid Request: nested beyond 1024 levels");
  return {json_rpc::parse_error, "Parse error: not JSON"};
}

}  // namespace

ParsedFrame parse_frame(std::string bytes) {
  if (!is_utf8(bytes)) return not_utf8;
  Walk walk(bytes);
  if (!walk.starts_with_object()) {
    JsonScanner whole(bytes);
    Slice value;
    whole.skip_space();
    const bool json = whole.value(value);
    whole.skip_space();
    if (json ? whole.at_end() : whole.fault() == JsonFault::too_deep) return not_an_object;
    return fault_of(JsonFault::syntax);
  }
  if (!walk.message() || !walk.ends()) return fault_of(walk.fault());
  return make_frame(std::move(bytes), walk.found());
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
    Walk walk(rest, 1);
    if (!walk.message()) {
      fault = fault_of(walk.fault());
      return false;
    }
    scanner.skip(walk.position());
    elements.push_back(make_frame(std::string(rest.substr(0, walk.position())), walk.found()));
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
