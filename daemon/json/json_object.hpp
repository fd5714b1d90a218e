#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace bridge {

/// A value that is JSON already; it must outlive the call it is passed to.
struct RawJson {
  std::string_view text;
};

class JsonArray;

/// Writes one JSON object, member by member. Names need no escapes; strings are quoted, and bytes
/// that are not UTF-8 become U+FFFD. A value; one allocation that grows with the text.
class JsonObject {
 public:
  JsonObject() = default;
  /// With room for so many bytes.
  explicit JsonObject(std::size_t bytes) : text_() {
    text_.reserve(bytes);
    text_ += '{';
  }

  JsonObject& add(std::string_view name, std::string_view text);
  JsonObject& add(std::string_view name, const char* text) {
    return add(name, std::string_view(text));
  }
  JsonObject& add(std::string_view name, RawJson json);
  JsonObject& add(std::string_view name, const JsonObject& object);
  JsonObject& add(std::string_view name, const JsonArray& array);
  JsonObject& add(std::string_view name, std::same_as<bool> auto flag) {
    return add(name, RawJson{flag ? "true" : "false"});
  }
  JsonObject& add(std::string_view name,
                  std::integral auto number) requires(!std::same_as<decltype(number), bool>) {
    return add(name, RawJson{std::to_string(number)});
  }
  /// `null` if absent.
  template <class Value>
  JsonObject& add(std::string_view name, const std::optional<Value>& value) {
    return value ? add(name, *value) : add(name, RawJson{"null"});
  }
  /// A name that is JSON already, with its quotes.
  JsonObject& add(RawJson name, RawJson json);
  /// A name that may need escapes.
  JsonObject& add_any(std::string_view name, RawJson json);
  /// Adds nothing if the text is empty.
  JsonObject& add_unless_empty(std::string_view name, std::string_view text) {
    return text.empty() ? *this : add(name, text);
  }

  JsonObject& add_unless_empty(std::string_view name, RawJson json) {
    return json.text.empty() ? *this : add(name, json);
  }

  /// Adds the members of another object.
  JsonObject& add_all(const JsonObject& other) {
    if (!other.is_empty() && !is_empty()) text_ += ',';
    text_ += other.members();
    return *this;
  }

  bool is_empty() const { return text_.size() == 1; }
  /// The members so far, without braces.
  std::string_view members() const { return std::string_view(text_).substr(1); }
  /// The object so far.
  std::string text() const& { return text_ + '}'; }
  std::string text() && { return std::move(text_ += '}'); }

 private:
  std::string text_ = "{";
};

/// The start of a JSON-RPC message, `"jsonrpc":"2.0"`, with room for so many bytes more.
inline JsonObject json_rpc_message(std::size_t bytes = 0) {
  JsonObject message(bytes + 64);
  message.add("jsonrpc", RawJson{R"("2.0")"});
  return message;
}

/// Messages of this program's own, without line break. `raw_id`, `raw_params` (empty: none),
/// `raw_result` and `raw_data` (empty: none) are JSON.
std::string own_request(std::string_view raw_id, std::string_view method,
                        std::string_view raw_params);
std::string own_notification(std::string_view method, std::string_view raw_params = {});
std::string result_reply(std::string_view raw_id, std::string_view raw_result);
inline std::string result_reply(std::string_view raw_id, const JsonObject& result) {
  return result_reply(raw_id, result.text());
}
std::string error_reply(std::string_view raw_id, int code, std::string_view message,
                        std::string_view raw_data = {});

/// Writes the text of one JSON array. A value.
class JsonArray {
 public:
  JsonArray& add(RawJson json) {
    if (text_.size() > 1) text_ += ',';
    text_ += json.text;
    return *this;
  }
  JsonArray& add(const JsonObject& object) { return add(RawJson{object.text()}); }
  JsonArray& add(std::string_view text);
  JsonArray& add(const char* text) { return add(std::string_view(text)); }

  bool is_empty() const { return text_.size() == 1; }
  /// The size of the text so far, in bytes.
  std::size_t size() const { return text_.size(); }
  std::string text() const { return text_ + ']'; }

 private:
  std::string text_ = "[";
};

}  // namespace bridge
