#pragma once

#include <string>
#include <string_view>

#include "jsonrpc/frame.hpp"
#include "jsonrpc/meta_keys.hpp"
#include "text/checked_json.hpp"
#include "text/json_scanner.hpp"
#include "text/json_text.hpp"

namespace bridge {

/// Walks through a message and writes into `frame` where the members stand that the bridge acts on,
/// whatever kind of message carries them; finish() then makes a frame of it (JSON-RPC 2.0, sections
/// 4 and 5; BEHAVIOUR, "Framing"). A part of frame.cpp. Pure; it refers to text, frame and
/// `checked` for as long as it lives.
class FrameWalk {
 public:
  /// `depth`: how many containers are open around `text`. `checked`: what is known of it; or null.
  FrameWalk(std::string_view text, Frame& frame, std::size_t depth = 0,
            const CheckedJson* checked = nullptr)
      : text_(text), scanner_(text, depth), frame_(frame), checked_(checked) {}

  /// The message that the text begins with.
  bool message() {
    return scanner_.object([this](Slice key) { return top_member(key.of(text_)); });
  }
  /// Whether nothing but white space is behind it.
  bool ends() {
    scanner_.skip_space();
    return scanner_.at_end();
  }

  /// Gives the frame, which has its bytes now, its kind, and takes away what this kind may not
  /// carry; or says why it is no message.
  const char* finish();

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

  /// Takes one value of any kind; one that was checked before is not read.
  bool take_value(Slice& value) {
    const Slice* const known = checked_ ? checked_->value_at(scanner_.position()) : nullptr;
    if (known == nullptr) return scanner_.value(value);
    value = *known;
    scanner_.skip(known->size());
    return true;
  }

  bool top_member(std::string_view raw_key) {
    Slice value;
    if (raw_key == "jsonrpc") return scanner_.value(value);  // in every message, never looked at
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
    if (member != nullptr) meet(*member, value, top_twice_);
    return true;
  }

  /// A member that the bridge acts on was met, for the first time or again.
  static void meet(Slice& member, Slice met, bool& twice) {
    twice = twice || member.present();
    member = met;
  }

  /// Takes a value; if it is an object, member by member.
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
    if (key == "progressToken") meet(params_progress_token_, value, progress_token_twice_);
    if (key == "requestId") meet(frame_.request_id, value, request_id_twice_);
    note_bound(key);
    return true;
  }

  /// A bit for each member of the params that says what a request is about; 0: it is none.
  static unsigned bound_member(std::string_view key) {
    switch (key.size()) {
      case 3: return key == "uri" ? 1 : 0;
      case 4: return key == "name" ? 2 : 0;
      case 6: return key == "taskId" ? 4 : 0;
      case 9: return key == "arguments" ? 8 : 0;
      case 12: return key == "requestState" ? 16 : 0;
      case 14: return key == "inputResponses" ? 32 : 0;
      default: return 0;
    }
  }

  void note_bound(std::string_view key) {
    const unsigned member = bound_member(key);
    frame_.has_ambiguous_params = frame_.has_ambiguous_params || (bound_ & member) != 0;
    bound_ |= member;
    frame_.has_input_answers = bound_ >= 16;
  }

  bool meta_member(std::string_view raw_key) {
    Slice value;
    if (!take_value(value)) return false;
    const std::string_view key = plain(raw_key);
    if (key == meta_key::progress_token) meet(frame_.progress_token, value, meta_twice_);
    if (key.size() < meta_key::shortest_of_requests) return true;
    if (Slice* const member = reserved_place(key)) meet(*member, value, meta_twice_);
    return true;
  }

  Slice* reserved_place(std::string_view key) {
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
    if (is_type) meet(frame_.result_type, value, result_type_twice_);
    return true;
  }

  const char* finish_response();
  const char* finish_call();
  /// Takes a value away that is neither a string nor a number.
  void keep_if_it_names(Slice& slice) const;

  std::string_view text_;
  JsonScanner scanner_;
  Frame& frame_;
  const CheckedJson* checked_;
  Slice method_, params_progress_token_;
  bool top_twice_ = false;
  bool meta_twice_ = false;  ///< `_meta`, or a member of it
  bool progress_token_twice_ = false;
  bool request_id_twice_ = false;
  bool result_type_twice_ = false;
  unsigned bound_ = 0;    ///< of bound_member(), those that were met
  std::string spelling_;  ///< of a key that has escapes
};

}  // namespace bridge
