#include "json/frame.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "json/json_progress.hpp"
#include "json/json_scanner.hpp"
#include "json/json_text.hpp"
#include "json/member_names.hpp"
#include "json/received_text.hpp"
#include "json/reply.hpp"
#include "text/utf8.hpp"

namespace bridge {

/// Walks a message and records in `frame` the positions of the members that the bridge acts on,
/// whatever kind of message has them; finish() then completes the frame (JSON-RPC 2.0, sections 4
/// and 5; BEHAVIOUR, "Framing"). A part of frame.cpp. Pure; text, frame and `checked` must outlive
/// it.
class FrameWalk {
 public:
  /// `depth`: how many containers are open around `text`. `checked`: known facts about it, or null.
  FrameWalk(std::string_view text, Frame& frame, std::size_t depth = 0,
            const CheckedJson* checked = nullptr)
      : text_(text), scanner_(text, depth), frame_(frame), checked_(checked) {}

  /// Reads the message at the front of the text.
  bool message() {
    return scanner_.object([this](Slice key) { return top_member(key.of(text_)); });
  }
  /// Whether only white space follows.
  bool ends() {
    scanner_.skip_space();
    return scanner_.at_end();
  }

  /// Completes the frame, which now has its bytes: sets its kind, and removes members that this
  /// kind must not have. Returns why the frame is not a message, or nullopt.
  std::optional<FrameFault> finish();

  JsonFault fault() const { return scanner_.fault(); }
  std::size_t position() const { return scanner_.position(); }

  bool starts_with_object() {
    scanner_.skip_space();
    return scanner_.peek() == '{';
  }

 private:
  /// Shorter keys cannot be escaped spellings of ours: an escape takes six bytes.
  static constexpr std::size_t shortest_escaped = 7;

  /// A key without its escapes; valid until the next call.
  std::string_view plain(std::string_view key) {
    if (key.size() < shortest_escaped || key.find('\\') == key.npos) return key;
    spelling_ = unescape(key);
    return spelling_;
  }

  /// Takes one value of any kind; a value that was checked before is skipped.
  bool take_value(Slice& value) {
    const Slice* const known = checked_ ? checked_->value_at(scanner_.position()) : nullptr;
    if (known == nullptr) return scanner_.value(value);
    value = *known;
    scanner_.skip(known->size());
    return true;
  }

  bool top_member(std::string_view raw_key) {
    Slice value;
    if (raw_key == "jsonrpc") return scanner_.value(value);  // in every message, never checked
    const std::string_view key = plain(raw_key);
    if (key == "params") {
      return inner(frame_.params, top_twice_,
                   [this](std::string_view name) { return params_member(name); });
    }
    if (key == "result") {
      return inner(frame_.result, top_twice_,
                   [this](std::string_view name) { return result_member(name); });
    }
    Slice* const member = key == "id"       ? &frame_.id
                          : key == "method" ? &method_
                          : key == "error"  ? &frame_.error
                                            : nullptr;
    if (!take_value(value)) return false;
    if (member != nullptr) {
      if (member == &frame_.id) meet(*member, value, id_twice_);
      if (member != &frame_.id) meet(*member, value, top_twice_);
    } else if (is_similar_to_any(raw_key, top_names)) {
      top_similar_ = true;
    }
    return true;
  }

  static constexpr std::array<std::string_view, 5> top_names = {"id", "method", "params", "result",
                                                                "error"};
  static constexpr std::array<std::string_view, 6> meta_names = {
      meta_key::progress_token, meta_key::protocol_version, meta_key::client_capabilities,
      meta_key::client_info,    meta_key::log_level,        meta_key::subscription_id};
  static constexpr const char* similar_member =
      "Invalid Request: a member's name differs from one of the protocol only in case or invisible "
      "characters";

  /// Whether another parser could take the member for one of these. REQUIRES: it is none of them.
  template <std::size_t Count>
  static bool is_similar_to_any(std::string_view raw_key,
                                const std::array<std::string_view, Count>& names) {
    return std::any_of(names.begin(), names.end(),
                       [raw_key](std::string_view name) { return is_similar_name(raw_key, name); });
  }

  /// Records a member that the bridge acts on; `twice` if it was recorded before.
  static void meet(Slice& member, Slice met, bool& twice) {
    twice = twice || member.present();
    member = met;
  }

  /// Takes a value; an object is taken member by member.
  template <class OnMember>
  bool inner(Slice& member, bool& twice, OnMember&& on_member) {
    Slice value{scanner_.position(), 0};
    if (scanner_.peek() == '{') {
      if (!scanner_.object([&](Slice key) { return on_member(key.of(text_)); })) return false;
      value.end = scanner_.position();
    } else if (!take_value(value)) {
      return false;
    }
    meet(member, value, twice);
    return true;
  }

  bool params_member(std::string_view raw_key) {
    const std::string_view key = plain(raw_key);
    if (key == "_meta") {
      return inner(frame_.meta, meta_twice_,
                   [this](std::string_view name) { return meta_member(name); });
    }
    Slice value;
    if (!take_value(value)) return false;
    const param::Set member = known_param(key);
    if (member == 0) {
      similar_ |= param::similar(raw_key);
      return true;
    }
    if (member == param::name) frame_.name = value;
    if (member == param::arguments) frame_.arguments = value;
    if (member == param::progress_token) params_progress_token_ = value;
    if (member == param::request_id) frame_.request_id = value;
    if ((member & param::judged) != 0 && !is_clear(value)) unclear_ |= member;
    twice_ |= met_ & member;
    met_ |= member;
    return true;
  }

  /// The bit of a member of the params by its exact name; 0: another one.
  static param::Set known_param(std::string_view key) {
    switch (key.size()) {
      case 3: return key == "uri" ? param::uri : key == "ref" ? param::ref : 0;
      case 4: return key == "name" ? param::name : key == "task" ? param::task : 0;
      case 5: return key == "level" ? param::level : 0;
      case 6: return key == "taskId" ? param::task_id : key == "cursor" ? param::cursor : 0;
      case 9:
        return key == "arguments" ? param::arguments : key == "requestId" ? param::request_id : 0;
      case 12: return key == "requestState" ? param::request_state : 0;
      case 13:
        return key == "progressToken"   ? param::progress_token
               : key == "notifications" ? param::notifications
                                        : 0;
      case 14: return key == "inputResponses" ? param::input_responses : 0;
      default: return 0;
    }
  }

  /// Whether all parsers read the same text, if it is one.
  bool is_clear(Slice value) const {
    const std::string_view text = value.of(text_);
    return !is_string(text) || is_clear_text(text.substr(1, text.size() - 2));
  }

  bool meta_member(std::string_view raw_key) {
    Slice value;
    if (!take_value(value)) return false;
    const std::string_view key = plain(raw_key);
    if (Slice* const member = reserved_place(key)) {
      meet(*member, value, meta_twice_);
    } else if (is_similar_to_any(raw_key, meta_names)) {
      meta_similar_ = true;
    }
    return true;
  }

  Slice* reserved_place(std::string_view key) {
    if (key == meta_key::progress_token) return &frame_.progress_token;
    if (key.size() < meta_key::shortest_of_requests) return nullptr;
    if (key == meta_key::protocol_version) return &frame_.protocol_version;
    if (key == meta_key::client_capabilities) return &frame_.reserved.client_capabilities;
    if (key == meta_key::client_info) return &frame_.reserved.client_info;
    if (key == meta_key::log_level) return &frame_.reserved.log_level;
    return key == meta_key::subscription_id ? &frame_.subscription_id : nullptr;
  }

  bool result_member(std::string_view raw_key) {
    const bool is_type = plain(raw_key) == "resultType";
    Slice value;
    if (!take_value(value)) return false;
    if (is_type) {
      meet(frame_.result_type, value, result_type_twice_);
    } else if (is_similar_name(raw_key, "resultType")) {
      result_type_twice_ = true;
    }
    return true;
  }

  const char* finish_message();
  const char* finish_response();
  const char* finish_call();
  /// Clears the slice unless its value is a string or a number.
  void keep_if_it_names(Slice& slice) const;

  std::string_view text_;
  JsonScanner scanner_;
  Frame& frame_;
  const CheckedJson* checked_;
  Slice method_, params_progress_token_;
  bool id_twice_ = false;
  bool top_twice_ = false;  ///< another one
  bool top_similar_ = false;
  bool meta_twice_ = false;  ///< `_meta`, or a member of it
  bool meta_similar_ = false;
  bool result_type_twice_ = false;  ///< or a similar one
  param::Set met_ = 0;              ///< members of the params
  param::Set twice_ = 0;
  param::Set similar_ = 0;  ///< those for which another parser could take a member
  param::Set unclear_ = 0;  ///< those whose text other parsers could read differently
  std::string spelling_;    ///< of a key with escapes
};

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

/// Of what is not JSON only the members before its result or error are read.
FrameFault fault_of_text(FrameFault fault, std::string_view bytes) {
  fault.answers = id_of_oversized_answer(bytes, {});
  return fault;
}

/// `checked`: the known facts about the bytes, or null.
ParsedFrame parse_known(std::string&& bytes, const CheckedJson* checked) {
  if (checked == nullptr && !is_utf8(bytes)) return fault_of_text(not_utf8, bytes);
  // Constructed in the returned object: a frame is expensive to move.
  ParsedFrame parsed(std::in_place_type<Frame>);
  Frame& frame = *std::get_if<Frame>(&parsed);
  frame.bytes = std::move(bytes);
  FrameWalk walk(frame.bytes, frame, 0, checked);
  std::optional<FrameFault> fault;
  if (!walk.starts_with_object()) {
    fault = fault_of_no_object(frame.bytes);
  } else if (!walk.message() || !walk.ends()) {
    fault = fault_of_text(fault_of(walk.fault()), frame.bytes);
  } else {
    fault = walk.finish();
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
    if (const auto wrong = walk.finish()) {
      elements.emplace_back(*wrong);
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
  // From back to front, so that the earlier slice stays valid.
  for (const Splice& one : {first, second}) {
    if (one.at.present()) bytes.replace(one.at.begin, one.at.size(), one.with);
  }
}

// Removes the members that a message of its kind must not have.

using namespace std::string_view_literals;
namespace {

bool is_string_or_number(std::string_view value) {
  const char c = value.empty() ? '\0' : value.front();
  return c == '"' || c == '-' || (c >= '0' && c <= '9');
}

}  // namespace

void FrameWalk::keep_if_it_names(Slice& slice) const {
  if (!is_string_or_number(frame_.text(slice))) slice = {};
}

std::optional<FrameFault> FrameWalk::finish() {
  const Slice id = frame_.id;
  const char* const reason = finish_message();
  if (reason == nullptr) return std::nullopt;
  FrameFault fault = invalid(reason);
  if (!method_.present() && !id_twice_) fault.answers = unsigned_by_value(frame_.text(id));
  return fault;
}

const char* FrameWalk::finish_message() {
  if (id_twice_ || top_twice_) return "Invalid Request: duplicate member";
  if (top_similar_) return similar_member;
  return method_.present() ? finish_call() : finish_response();
}

const char* FrameWalk::finish_call() {
  const std::string_view method = frame_.text(method_);
  if (!is_string(method)) return "Invalid Request: method is not a string";
  if (frame_.result.present() || frame_.error.present()) {
    return "Invalid Request: both method and result or error";
  }
  if (frame_.id.present() && !is_string_or_number(frame_.text(frame_.id)))
    return "Invalid Request: id is not a string or a number";
  if (meta_twice_) return "Invalid Request: duplicate member in _meta";
  if (meta_similar_) return similar_member;
  frame_.kind = frame_.id.present() ? FrameKind::request : FrameKind::notification;
  if (method.size() > longest_name || frame_.text(frame_.id).size() > longest_name ||
      (frame_.is_request() && frame_.text(frame_.progress_token).size() > longest_name))
    return "Invalid Request: method, id or progressToken of more than 4096 bytes";
  if (!read_method(method.substr(1, method.size() - 2), frame_.method))
    return "Invalid Request: method contains a control character";
  if ((similar_ | unclear_) != 0) {
    const param::Set acted_on = param::acted_on(frame_.method);
    if ((similar_ & acted_on) != 0) return similar_member;
    if ((unclear_ & acted_on) != 0)
      return "Invalid Request: name, uri or taskId contains a control character";
  }
  frame_.has_ambiguous_params = (twice_ & param::bound) != 0;
  frame_.has_input_answers = (met_ & (param::request_state | param::input_responses)) != 0;
  if (!is_string(frame_.text(frame_.protocol_version))) frame_.protocol_version = {};
  if (frame_.is_request()) {
    keep_if_it_names(frame_.progress_token);
    frame_.request_id = frame_.subscription_id = {};
    return nullptr;
  }
  keep_if_it_names(frame_.subscription_id);
  frame_.progress_token = {};
  if (frame_.method == "notifications/progress"sv) {
    if ((twice_ & param::progress_token) != 0) return "Invalid Request: duplicate progressToken";
    frame_.progress_token = params_progress_token_;
    keep_if_it_names(frame_.progress_token);
  }
  if (frame_.method != "notifications/cancelled"sv) {
    frame_.request_id = {};
    return nullptr;
  }
  if ((twice_ & param::request_id) != 0) return "Invalid Request: duplicate requestId";
  keep_if_it_names(frame_.request_id);
  return nullptr;
}

const char* FrameWalk::finish_response() {
  if (!frame_.id.present()) return "Invalid Request: neither method nor id";
  if (frame_.result.present() == frame_.error.present()) {
    return "Invalid Request: not exactly one of method, result and error";
  }
  frame_.kind = FrameKind::response;
  if (result_type_twice_) return "Invalid Request: duplicate resultType";
  if (frame_.params.present()) {
    frame_.meta = frame_.progress_token = frame_.request_id = {};
    frame_.protocol_version = frame_.subscription_id = {};
    frame_.name = frame_.arguments = {};
    frame_.reserved = {};
  }
  const std::string_view id = frame_.text(frame_.id);
  if (is_string_or_number(id)) return nullptr;
  frame_.id_is_null = id == "null" && frame_.error.present();
  return frame_.id_is_null ? nullptr : "Invalid Request: id is not a string or a number";
}

}  // namespace bridge
