#include "json/json_object.hpp"

#include "json/json_text.hpp"

namespace bridge {

JsonObject& JsonObject::add(std::string_view name, std::string_view text) {
  return add(name, RawJson{quote(text)});
}

JsonObject& JsonObject::add(std::string_view name, RawJson json) {
  if (text_.size() > 1) text_ += ',';
  text_ += '"';
  text_ += name;
  text_ += "\":";
  text_ += json.text;
  return *this;
}

JsonObject& JsonObject::add(RawJson name, RawJson json) {
  if (text_.size() > 1) text_ += ',';
  text_ += name.text;
  text_ += ':';
  text_ += json.text;
  return *this;
}

JsonObject& JsonObject::add_any(std::string_view name, RawJson json) {
  return add(RawJson{quote(name)}, json);
}

JsonObject& JsonObject::add(std::string_view name, const JsonArray& array) {
  return add(name, RawJson{array.text()});
}

JsonObject& JsonObject::add(std::string_view name, const JsonObject& object) {
  return add(name, RawJson{object.text()});
}

JsonArray& JsonArray::add(std::string_view text) { return add(RawJson{quote(text)}); }

std::string own_request(std::string_view raw_id, std::string_view method,
                        std::string_view raw_params) {
  JsonObject message = json_rpc_message(raw_id.size() + method.size() + raw_params.size());
  message.add("id", RawJson{raw_id}).add("method", method);
  return std::move(message.add_unless_empty("params", RawJson{raw_params})).text();
}

std::string own_notification(std::string_view method, std::string_view raw_params) {
  JsonObject message = json_rpc_message();
  message.add("method", method).add_unless_empty("params", RawJson{raw_params});
  return std::move(message).text();
}

std::string result_reply(std::string_view raw_id, std::string_view raw_result) {
  JsonObject message = json_rpc_message();
  message.add("id", RawJson{raw_id}).add("result", RawJson{raw_result});
  return std::move(message).text();
}

std::string error_reply(std::string_view raw_id, int code, std::string_view message,
                        std::string_view raw_data) {
  JsonObject error;
  error.add("code", code).add("message", message).add_unless_empty("data", RawJson{raw_data});
  JsonObject reply = json_rpc_message();
  reply.add("id", RawJson{raw_id}).add("error", error);
  return std::move(reply).text();
}

}  // namespace bridge
